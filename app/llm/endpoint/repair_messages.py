"""Complaints: fixed sentences that say why a reply cannot be used, without quoting it.

They are few, so the guard knows all of them in advance.
"""

from __future__ import annotations

from typing import Final

EMPTY: Final = "It had no content. "
CUT_OFF: Final = "It was cut off at its longest: be brief. "
BLANK: Final = "It held white space without end. "
NO_JSON: Final = "It was not one JSON object. "
MISFIT: Final = "It did not keep to the schema. "
NOT_OFFERED: Final = "It held what the input does not offer. "

COMPLAINTS: Final = (EMPTY, CUT_OFF, BLANK, NO_JSON, MISFIT, NOT_OFFERED)
