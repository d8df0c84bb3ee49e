"""POST /chat from the question to the sealed reply, one stage a file.

Imports `strategies`, `accounts`, `egress`, `privacy`, `kg_store`.
"""
