"""Secrets in the settings: examples are refused, and `..._KEY_FILE` names a file with the value of `..._KEY`."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from pathlib import Path

from pydantic import SecretStr

MIN_KEY_CHARS = 32
MIN_DIFFERENT_CHARS = 10

# Words that stand in examples, tutorials and compose files; no generated secret holds one but by a freak chance.
_EXAMPLE_WORDS = re.compile(
    r"change.?me|replace.?(me|this|with)|example|placeholder|your.?(admin|api|key|master|secret|token)"
    r"|insert|\btodo\b|password|s3cret|<.*>",
    re.IGNORECASE,
)
# Others may do nothing with such a file; a group may read it, as mounted secrets let it.
_MODE_OF_OTHERS = 0o027


def no_example(key: SecretStr | None) -> SecretStr | None:
    """Returns `key`. Raises ValueError if it comes from an example."""
    if key is not None and _EXAMPLE_WORDS.search(key.get_secret_value()):
        raise ValueError("still holds the example's words: set your own, or leave it out")
    return key


def check_random(key: SecretStr | None) -> SecretStr | None:
    """Returns `key`. Raises ValueError if it comes from an example or could be guessed."""
    if key is None:
        return key
    text = key.get_secret_value()
    if len(text) < MIN_KEY_CHARS or len(set(text)) < MIN_DIFFERENT_CHARS or _EXAMPLE_WORDS.search(text):
        raise ValueError(
            f"is an example or too simple: set at least {MIN_KEY_CHARS} random characters, for instance "
            'from: python -c "import secrets; print(secrets.token_urlsafe(32))"'
        )
    return key


def with_secrets(values: Mapping[str, object], names: Sequence[str], prefix: str) -> dict[str, object]:
    """Returns the settings `values` with each of `names` read from the file in its `..._file` setting.

    Raises ValueError, with the settings' names only, if both are set, or if the file cannot be read, is empty, or is
    readable by others.
    """
    filled = dict(values)
    for name in names:
        path = filled.get(f"{name}_file")
        if not path:
            continue
        setting = f"{prefix}{name.upper()}"
        if filled.get(name):
            raise ValueError(f"{setting} and {setting}_FILE are both set: leave one out")
        filled[name] = _text_of(Path(str(path)), f"{setting}_FILE")
    return filled


def _text_of(path: Path, setting: str) -> str:
    try:
        mode, text = path.stat().st_mode, path.read_text("ascii").strip()
    except (OSError, UnicodeDecodeError):
        raise ValueError(f"{setting}: the file can't be read") from None
    if mode & _MODE_OF_OTHERS:
        raise ValueError(f"{setting}: others may read or change the file; use `chmod 600`")
    if not text:
        raise ValueError(f"{setting}: the file is empty")
    return text
