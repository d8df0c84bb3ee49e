"""Vendors: endpoints as a command names them, each with its model, its price and the variable that holds its key."""

from __future__ import annotations

import os
import re
from collections.abc import Sequence
from itertools import repeat

from app.llm.endpoint.request_body import Price
from evaluation.dialogue.writers.chat_client import ChatClient

_PRICE = re.compile(r"(\d+(?:\.\d+)?)/(\d+(?:\.\d+)?)")
_URL = re.compile(r"https?://[^/\s]+\S*")


class VendorError(Exception):
    """The options do not name endpoints as they should; the text quotes none of them."""


def vendors(
    urls: Sequence[str], models: Sequence[str], prices: Sequence[str] = (), key_variables: Sequence[str] = ()
) -> list[ChatClient]:
    """One client for each URL. Of models one, or one each; of prices and variables none, one, or one each.

    Raises VendorError.
    """
    if not all(_URL.fullmatch(url) for url in urls):
        raise VendorError("--endpoint takes a base URL such as http://host/v1")
    if urls and not models:
        raise VendorError("--endpoint needs --model, once or once for each endpoint")
    each = zip(
        urls,
        _for_each("--model", models, len(urls)),
        _for_each("--price", prices, len(urls)),
        _for_each("--key-variable", key_variables, len(urls)),
        strict=True,
    )
    return [ChatClient(url, model, _key(variable), _price(price)) for url, model, price, variable in each]


def _for_each(option: str, given: Sequence[str], count: int) -> list[str]:
    if len(given) in (0, 1):
        return list(repeat(given[0] if given else "", count))
    if len(given) != count:
        raise VendorError(f"{option} is given once, or once for each endpoint")
    return list(given)


def _price(text: str) -> Price | None:
    if not text:
        return None
    if (found := _PRICE.fullmatch(text)) is None:
        raise VendorError("--price is money for a million tokens, as prompt/completion: 0.15/0.60")
    return Price(float(found[1]), float(found[2]))


def _key(variable: str) -> str:
    """A key is named by its variable: a command line can be read by others."""
    if variable and variable not in os.environ:
        raise VendorError("--key-variable names an environment variable that is not set")
    return os.environ.get(variable, "")
