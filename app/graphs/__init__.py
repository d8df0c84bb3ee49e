"""Graphs of a tenant: loaded, previewed, reported on, refined and erased from, as jobs.

Imports `chat`, `egress`, `llm`, `privacy`, `accounts`, `database` and `kg_store`.
"""
