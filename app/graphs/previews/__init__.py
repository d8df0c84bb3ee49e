"""Previews of files for their owner as a list of choices, and the changes that owners make to them.

Imports `app.chat.sealing`, `client_sdk.protocol` and `kg_store`.
"""
