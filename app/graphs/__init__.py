"""Graphs of a tenant: loading, previews, reports, refinement and erasure, as jobs.

Imports `chat`, `egress`, `llm`, `privacy`, `accounts`, `database` and `kg_store`.
"""
