"""POST /chat, from the question to the sealed reply; each stage has a file of its own.

Imports `strategies`, `accounts`, `egress`, `privacy`, `kg_store`.
"""
