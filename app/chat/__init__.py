"""POST /chat, from the question to the sealed reply; a list of stages over one object.

Imports `strategies`, `accounts`, `egress`, `privacy`, `kg_store`.
"""
