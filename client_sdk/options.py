"""Keyword arguments of Chat and AsyncChat, as types that an editor and a type checker know."""

from __future__ import annotations

from typing import TypedDict

from client_sdk.crypto.sealing import KeyPair
from client_sdk.protocol import StrategyName
from client_sdk.transport.waiting import OnWait


class AskOptions(TypedDict, total=False):
    """Limits of one question: `width` relations a round, `depth` rounds, `relations_per_concept`, and how many
    `names` of one set are restored; with the `language` of these; how many questions to go on with are made as
    `suggestions` (0: none); and which `person` asks, where several share a key (the service gets a digest of it)."""

    width: int
    depth: int
    relations_per_concept: int
    names: int
    language: str
    suggestions: int
    person: str


class ChatOptions(AskOptions, total=False):
    """Those limits for every question, and what a Chat is made with beside its address; see Chat."""

    strategy: StrategyName
    key: KeyPair
    timeout_s: float
    connect_timeout_s: float
    retries: int
    connect_retries: int
    plain_http: bool
    restore_names: bool
    on_wait: OnWait
