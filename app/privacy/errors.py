"""The errors of privacy. Each means that something stays inside; their texts hold ids, counts and reason codes.

PrivacyError
├── Blocked             guard: a request would have carried a name or value, or could not be read
├── LedgerUnavailableError   ledger: an egress could not be recorded, so it must not be sent
└── NotGroundedError         ground: a draft cites what the evidence does not hold
"""

from __future__ import annotations

import secrets


class PrivacyError(Exception):
    """The base of all privacy errors. `id` is random and appears in the log too, so that a user's report can be
    matched.
    """

    def __init__(self, text: str) -> None:
        self.id = secrets.token_hex(8)
        super().__init__(f"{text} (error {self.id})")
