"""The base of every wire type."""

from __future__ import annotations

from pydantic import BaseModel, ConfigDict


class Wire(BaseModel):
    """Strict about unknown fields, and silent about input in its errors: input may hold names."""

    model_config = ConfigDict(extra="forbid", frozen=True, hide_input_in_errors=True)
