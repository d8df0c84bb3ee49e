"""Checks the token counts that an endpoint reports: what no request can have taken is not believed."""

from __future__ import annotations

from typing import Final

from app.llm.endpoint.completion import Completion
from app.llm.reasoner import Tokens

MAX_TIMES_OURS: Final = 2
"""Tokenisers differ: of JSON and English one may make so many times the tokens of another."""

MAX_FRAME_TOKENS: Final = 256
"""What a chat template and a schema in another form may add to a prompt."""


def checked_tokens(completion: Completion, prompt_tokens: int, written_tokens: int, max_tokens: int) -> Tokens:
    """The endpoint's counts where both can be right, else ours; retries and price are the caller's to add.

    `prompt_tokens` and `written_tokens` are counted by us, `max_tokens` is what the request asked for at most.
    Promise: neither count is below zero; the prompt's is at most MAX_TIMES_OURS times ours and MAX_FRAME_TOKENS, the
    reply's at most `max_tokens`, whatever the endpoint says. Limit: counts that are too low, but not below zero, are
    believed.
    """
    prompt, written = completion.prompt_tokens, completion.completion_tokens
    most = prompt_tokens * MAX_TIMES_OURS + MAX_FRAME_TOKENS
    is_odd = completion.has_odd_usage or not (_is_within(prompt, most) and _is_within(written, max_tokens))
    if prompt is None or written is None or is_odd:
        return Tokens(prompt_tokens, min(written_tokens, max_tokens), odd_counts=int(is_odd))
    return Tokens(prompt, written, by_endpoint=True)


def _is_within(reported: int | None, most: int) -> bool:
    """None is not odd: many endpoints report nothing."""
    return reported is None or 0 <= reported <= most
