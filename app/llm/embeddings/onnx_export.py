"""Writes the network of a sentence model as an ONNX file, once, and stores it in the cache folder.

BERT networks are written from their weights, in a second and without torch. Any other network is exported and checked
by torch in a process of its own, so that the service itself never loads torch:
`python -m app.llm.embeddings.onnx_export MODEL FOLDER`.
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
from collections.abc import Mapping
from dataclasses import dataclass, field
from importlib.metadata import version
from pathlib import Path
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from app.llm.embeddings.encoders import OnnxEncoder, TorchEncoder
from app.llm.embeddings.model_files import EncoderConfig, ModelFolder, encoder_config_of, find_model, sha256_of

Weights = Mapping[str, npt.NDArray[Any]]
INPUTS: Final = ("input_ids", "attention_mask", "token_type_ids")
_OWN: Final = "com.microsoft"
_OPSETS: Final = {"": 17, _OWN: 1}
_IR_VERSION: Final = 9
_HEADED: Final = "bert."
"""Prefix of layer names in files of models that were saved with an output head."""
_SELF: Final = ("query", "key", "value")


def is_plain_bert(model: Path) -> bool:
    """Returns True if `write_bert` can write the network of the model in the folder `model`."""
    from safetensors import SafetensorError, safe_open

    try:
        config = json.loads((model / "config.json").read_text("utf-8"))
        with safe_open(str(model / "model.safetensors"), framework="numpy") as opened:
            names = {name.removeprefix(_HEADED) for name in opened.keys()}  # noqa: SIM118  # it is no mapping
    except (OSError, ValueError, SafetensorError):
        return False
    return (
        config.get("model_type") == "bert"
        and config.get("hidden_act") == "gelu"
        and config.get("position_embedding_type", "absolute") == "absolute"
        and not config.get("is_decoder")
        and f"encoder.layer.{config.get('num_hidden_layers', 0) - 1}.output.dense.weight" in names
    )


def write_bert(model: Path, target: Path) -> None:
    """Writes the network of the BERT model in the folder `model` to the ONNX file `target`. Raises OSError.

    It has three inputs (INPUTS) of shape (texts, tokens), and the output `hidden`, the last layer, of shape (texts,
    tokens, dimensions).
    """
    import onnx
    from safetensors.numpy import load_file

    config = json.loads((model / "config.json").read_text("utf-8"))
    weights = {name.removeprefix(_HEADED): array for name, array in load_file(model / "model.safetensors").items()}
    network = _Network(weights, config["num_attention_heads"], config["layer_norm_eps"])
    hidden = network.embeddings()
    for layer in range(config["num_hidden_layers"]):
        hidden = network.layer(hidden, f"encoder.layer.{layer}.")
    network.node("Identity", [hidden], "hidden")
    onnx.save(network.built(config["hidden_size"]), target)


@dataclass(slots=True)
class _Network:
    """Builds the ONNX graph of a BERT network, node by node in order of execution.

    `numbers`: the weights that nodes use, by name. Methods that add nodes return the name of the output.
    """

    weights: Weights
    heads: int
    epsilon: float
    nodes: list[Any] = field(default_factory=list)
    numbers: dict[str, npt.NDArray[np.float32]] = field(default_factory=dict)

    def embeddings(self) -> str:
        from onnx import TensorProto

        for name in INPUTS:
            self.node("Cast", [name], f"{name}.32", to=TensorProto.INT32)
        tables = [f"embeddings.{of}_embeddings.weight" for of in ("word", "position", "token_type")]
        norms = [f"embeddings.LayerNorm.{part}" for part in ("weight", "bias")]
        for name in (*tables, *norms):
            self._keep(name, self.weights[name])
        given = ["input_ids.32", "token_type_ids.32", *tables, *norms]
        # Its second output, the lengths of the texts, is not used, because each layer gets the mask.
        self.nodes.append(self._made("EmbedLayerNormalization", given, ["embedded", "lengths"], epsilon=self.epsilon))
        return "embedded"

    def layer(self, given: str, at: str) -> str:
        maps = np.concatenate([self.weights[f"{at}attention.self.{each}.weight"].T for each in _SELF], axis=1)
        biases = np.concatenate([self.weights[f"{at}attention.self.{each}.bias"] for each in _SELF])
        inputs = [given, self._keep(f"{at}maps", maps), self._keep(f"{at}biases", biases), "attention_mask.32"]
        seen = self.node("Attention", inputs, f"{at}seen", num_heads=self.heads)
        seen = self._added(seen, given, f"{at}attention.output.")
        wide = self._times(seen, f"{at}intermediate.dense")
        wide = self.node("BiasGelu", [wide, self._bias(f"{at}intermediate.dense")], f"{at}wide")
        return self._added(wide, seen, f"{at}output.")

    def node(self, operator: str, inputs: list[str], output: str, **attributes: Any) -> str:
        self.nodes.append(self._made(operator, inputs, [output], **attributes))
        return output

    def built(self, dimensions: int) -> Any:
        from onnx import TensorProto, helper, numpy_helper

        inputs = [helper.make_tensor_value_info(name, TensorProto.INT64, ["texts", "tokens"]) for name in INPUTS]
        output = helper.make_tensor_value_info("hidden", TensorProto.FLOAT, ["texts", "tokens", dimensions])
        numbers = [numpy_helper.from_array(array, name) for name, array in self.numbers.items()]
        graph = helper.make_graph(self.nodes, "bert", inputs, [output], numbers)
        opsets = [helper.make_opsetid(domain, version) for domain, version in _OPSETS.items()]
        return helper.make_model(graph, opset_imports=opsets, ir_version=_IR_VERSION)

    def _added(self, given: str, before: str, at: str) -> str:
        """Adds the nodes that compute `LayerNorm(before + linear(given))`, with the weights under the name `at`."""
        norms = [self._keep(f"{at}{name}", self.weights[f"{at}LayerNorm.{name}"]) for name in ("weight", "bias")]
        inputs = [self._times(given, f"{at}dense"), before, *norms, self._bias(f"{at}dense")]
        return self.node("SkipLayerNormalization", inputs, f"{at}added", epsilon=self.epsilon)

    def _times(self, given: str, place: str) -> str:
        return self.node("MatMul", [given, self._keep(f"{place}.map", self.weights[f"{place}.weight"].T)], place)

    def _bias(self, place: str) -> str:
        return self._keep(f"{place}.bias", self.weights[f"{place}.bias"])

    def _keep(self, name: str, array: npt.NDArray[Any]) -> str:
        self.numbers[name] = np.ascontiguousarray(array, dtype=np.float32)
        return name

    def _made(self, operator: str, inputs: list[str], outputs: list[str], **attributes: Any) -> Any:
        from onnx import helper

        domain = "" if operator in ("Cast", "MatMul", "Identity") else _OWN
        return helper.make_node(operator, inputs, outputs, domain=domain, **attributes)


# Part of every file's name. Raise it whenever the export or the steps around the network change.
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
    """Returns an encoder that runs the model's ONNX network, which is exported first if it is missing or broken.

    None if onnxruntime is not installed, the model needs more than the mean of its tokens, or the export failed; a log
    line says so, and the caller uses torch.
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
    """Writes the model's network and then its verdict to the folder `cache`, each completely or not at all.

    The verdict is a JSON file with the network's SHA-256. Returns False, and writes no network, if it can't be
    exported or gives other vectors than torch. Raises OSError, ImportError.
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
    """Writes the network to `target`; returns False if it can't be exported or gives other vectors than torch."""
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
        """Wraps the transformer so that it takes positional inputs, as the exporter requires."""

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
    """Returns the file name (without suffix) for a model with the installed versions of the packages that run it.

    Raises PackageNotFoundError.
    """
    packages = _RUN_BY if is_plain_bert(model.path) else _RUN_BY + _EXPORTED_BY
    parts = [FORMAT, sorted(model.digests.items()), [version(package) for package in packages]]
    return hashlib.sha256(json.dumps(parts).encode()).hexdigest()[:32]


def _network_of(model: ModelFolder, cache: Path) -> Path | None:
    """Returns the network's file, written if it is missing; None if it is known to give other vectors than torch."""
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
    """Returns True if no export is needed: the network is unchanged, or known to give other vectors than torch."""
    try:
        digest = _digest_in(verdict)
        return digest is None or sha256_of(network) == digest
    except (OSError, ValueError, LookupError, TypeError):
        return False


def _digest_in(verdict: Path) -> str | None:
    digest: str | None = json.loads(verdict.read_text("utf-8"))["sha256"]
    return digest


def _export_apart(model: ModelFolder, cache: Path) -> None:
    """Exports the network in a separate process, so that the exporter's output, warnings and memory end with that."""
    command = [sys.executable, "-m", "app.llm.embeddings.onnx_export", str(model.path), str(cache)]
    subprocess.run(command, check=True, capture_output=True, timeout=EXPORT_WITHIN_S)  # noqa: S603  # our own module  # nosec B603


def main(name: str, cache: str) -> None:
    """Exports the network of the sentence model with this name or folder to the folder `cache`."""
    model = find_model(name)
    recipe = encoder_config_of(model.path) if model else None
    if model is None or recipe is None:
        sys.exit("no folder with a sentence model that takes the mean over its tokens")
    with warnings.catch_warnings(action="ignore"):
        export(model, recipe, Path(cache))


if __name__ == "__main__":
    main(*sys.argv[1:])
