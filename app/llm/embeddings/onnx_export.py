"""Makes the network of a sentence model as an ONNX file, once, and keeps it in the cache folder.

BERT networks are written from their weights. Any other network is exported by torch and compared with it, in a process
of its own: `python -m app.llm.embeddings.onnx_export MODEL FOLDER`. So the service itself never loads torch.
"""

from __future__ import annotations

import hashlib
import json
import logging
import os
import subprocess  # our own module alone  # nosec B404
import sys
import tempfile
import warnings
from importlib.metadata import version
from pathlib import Path
from typing import Any

import numpy as np

from app.llm.embeddings.bert_network import is_plain_bert, write_bert
from app.llm.embeddings.model_files import EncoderConfig, ModelFolder, encoder_config_of, find_model, sha256_of
from app.llm.embeddings.onnx_encoder import OnnxEncoder
from app.llm.embeddings.torch_encoder import TorchEncoder

# Part of every file's name; raise it if the export, or the steps around the network, change.
FORMAT = 2
MAX_DIFFERENCE = 1e-5
EXPORT_WITHIN_S = 900
_RUN_BY = ("onnxruntime", "tokenizers")
_EXPORTED_BY = ("torch", "transformers", "sentence-transformers")
_log = logging.getLogger("arog.embedder")

PROBES = (
    "", " ", "a", "treated by", "  lives in  ", "date of birth", "Who is Eq7f2k treated by?", "WHAT IS THE CAPITAL",
    "naïve café, Žofštenbrück", "Straße in Århus", "доктор лечит ёлку", "من كتب هذا الكتاب",
    "谁写了这本书", "この本", "이 책", "ใครเขียน", "किसने लिखा", "🙂🙂 ok", "a_b|c^d.e/f",
    "x" * 300, "1961-07-23 and 4,841.25", "[SEP] [PAD] [MASK]", "e\u0301 \u200b \ufeff", "line\nbreak\ttab",
    "people.person.place_of_birth", "\x00null",
    *(" ".join(["which films did they direct before it"] * count) for count in (2, 4, 8, 16, 32, 64, 128)),
)  # fmt: skip


def open_exported(model: ModelFolder, cache: Path) -> OnnxEncoder | None:
    """Returns the encoder for the exported network, exporting it first if it is missing or broken.

    None if onnxruntime is not installed, the model needs more than the mean of its tokens, or the export failed; then
    a log line says so and torch runs the model.
    """
    recipe = encoder_config_of(model.path)
    if recipe is None or not (model.path / "tokenizer.json").is_file():
        _log.info("the sentence model is none that ONNX Runtime runs here: torch runs it")
        return None
    try:
        network = _network_of(model, cache)
        if network is not None:
            return OnnxEncoder(network, model.path, recipe)
        _log.warning("the sentence model has no export that gives the same vectors: torch runs it")
    except Exception:
        # Whatever fails here, torch gives the same vectors, only slower.
        _log.warning(
            "ONNX Runtime can't be used: torch runs the sentence model; "
            "see that onnxruntime is installed and the folder of AROG_CACHE_DIR can be written"
        )
    return None


def export(model: ModelFolder, recipe: EncoderConfig, cache: Path) -> bool:
    """Writes the network and then its verdict, each completely or not at all.

    Returns False, and writes no network, if it cannot be exported or gives other vectors than torch. Raises OSError,
    ImportError.
    """
    cache.mkdir(mode=0o700, parents=True, exist_ok=True)
    key = _key_of(model)
    with tempfile.TemporaryDirectory(dir=cache, prefix="export-") as folder:
        network, verdict = Path(folder) / "network.onnx", Path(folder) / "verdict.json"
        is_same = _is_written(model, recipe, network)
        verdict.write_text(json.dumps({"sha256": sha256_of(network) if is_same else None}), "utf-8")
        if is_same:
            os.replace(network, cache / f"{key}.onnx")
        os.replace(verdict, cache / f"{key}.json")
    return is_same


def _is_written(model: ModelFolder, recipe: EncoderConfig, target: Path) -> bool:
    if is_plain_bert(model.path):
        write_bert(model.path, target)
        return bool(np.isfinite(OnnxEncoder(target, model.path, recipe).encode(PROBES)).all())
    return _write_network(TorchEncoder(str(model.path)), model, recipe, target)


def _write_network(reference: TorchEncoder, model: ModelFolder, recipe: EncoderConfig, target: Path) -> bool:
    """Writes the network; False if it cannot be written or gives other vectors than torch."""
    try:
        _write_onnx(reference, target)
        exported = OnnxEncoder(target, model.path, recipe)
        vectors = exported.encode(PROBES)
    except (OSError, ImportError):
        raise
    except Exception:
        # The exporter raises many kinds of errors for networks that it cannot export.
        return False
    difference = float(np.abs(vectors - reference.encode(PROBES)).max())
    counts_alike = all(exported.count_tokens(text) == reference.count_tokens(text) for text in PROBES)
    return counts_alike and difference <= MAX_DIFFERENCE


def _write_onnx(reference: TorchEncoder, target: Path) -> None:
    import torch

    features: dict[str, Any] = reference.features(["lives in", "Who is it treated by?"])

    class Network(torch.nn.Module):
        """The transformer with positional inputs, as the exporter requires."""

        def __init__(self) -> None:
            super().__init__()
            self.inner = reference.network

        def forward(self, *inputs: torch.Tensor) -> torch.Tensor:
            hidden: torch.Tensor = self.inner(**dict(zip(features, inputs, strict=True)))[0]
            return hidden

    free = {0: torch.export.Dim.DYNAMIC, 1: torch.export.Dim.DYNAMIC}
    torch.onnx.export(
        Network().eval(),
        tuple(features.values()),
        target,
        input_names=list(features),
        output_names=["hidden"],
        dynamic_shapes={"inputs": tuple(free for _ in features)},
        dynamo=True,
        external_data=False,
        verbose=False,
    )


def _key_of(model: ModelFolder) -> str:
    """The file name for a model under the installed package versions. Raises PackageNotFoundError."""
    packages = _RUN_BY if is_plain_bert(model.path) else _RUN_BY + _EXPORTED_BY
    parts = [FORMAT, sorted(model.digests.items()), [version(package) for package in packages]]
    return hashlib.sha256(json.dumps(parts).encode()).hexdigest()[:32]


def _network_of(model: ModelFolder, cache: Path) -> Path | None:
    """The file of the network, made if it is missing; None if it is known to give other vectors than torch."""
    network, verdict = (cache / f"{_key_of(model)}.{suffix}" for suffix in ("onnx", "json"))
    if not _fits(network, verdict):
        _log.info("writing the sentence model's network for ONNX Runtime, once")
        recipe = encoder_config_of(model.path)
        if recipe and is_plain_bert(model.path):
            export(model, recipe, cache)
        else:
            _export_apart(model, cache)
    return network if _digest_in(verdict) is not None else None


def _fits(network: Path, verdict: Path) -> bool:
    """True if the network's file is unchanged, or the verdict says that it gives other vectors than torch."""
    try:
        digest = _digest_in(verdict)
        return digest is None or sha256_of(network) == digest
    except (OSError, ValueError, LookupError, TypeError):
        return False


def _digest_in(verdict: Path) -> str | None:
    digest: str | None = json.loads(verdict.read_text("utf-8"))["sha256"]
    return digest


def _export_apart(model: ModelFolder, cache: Path) -> None:
    """Exports in a separate process, which takes the exporter's output, warnings and memory with it."""
    command = [sys.executable, "-m", "app.llm.embeddings.onnx_export", str(model.path), str(cache)]
    subprocess.run(command, check=True, capture_output=True, timeout=EXPORT_WITHIN_S)  # noqa: S603  # our own module  # nosec B603


def main(name: str, cache: str) -> None:
    """Exports the model with this name or folder."""
    model = find_model(name)
    recipe = encoder_config_of(model.path) if model else None
    if model is None or recipe is None:
        sys.exit("no folder with a sentence model that takes the mean over its tokens")
    with warnings.catch_warnings(action="ignore"):
        export(model, recipe, Path(cache))


if __name__ == "__main__":
    main(*sys.argv[1:])
