"""Statements of a reply that a model wrote: read piece by piece, kept where the evidence holds them, else said anew.

Imports `strategies.base`, `llm.tasks`, `llm.embedded.language` and `.sentences`, `privacy.pseudonym_format`, `kg_store`.
"""
