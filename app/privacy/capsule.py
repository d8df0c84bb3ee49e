"""The capsule: the names of one answer, and no others, sealed to the caller's key."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from client_sdk.protocol import Capsule, CapsuleContent, Names, capsule_context
from client_sdk.sealing import parse_public_key, seal, to_base64url

PAD_BYTES: Final = 512


def seal_names(
    public_key_text: str, answer_id: str, conversation: str, graph: str, table: Mapping[str, Names]
) -> Capsule:
    """Raises BadPublicKey.

    Promise: only the holder of the private key reads the table, and only as this answer's, as long as X25519
    holds. Its length tells the sum of the names' lengths to 512 bytes. Not promised: that the caller keeps it.
    """
    public_key = parse_public_key(public_key_text)
    plain = CapsuleContent(answer_id=answer_id, table=dict(table)).model_dump_json().encode()
    # JSON may end in spaces, so that the length of the ciphertext does not give single names away.
    padded = plain.ljust(-(-len(plain) // PAD_BYTES) * PAD_BYTES)
    return Capsule(sealed=to_base64url(seal(padded, public_key, capsule_context(answer_id, conversation, graph))))
