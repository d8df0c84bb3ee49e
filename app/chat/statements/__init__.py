"""Statements of a reply that a model wrote: read piece by piece, and kept where the evidence holds them.

Imports `strategies.base`, `llm.embedded.language`, `privacy.pseudonym_format` and `kg_store`.
"""
