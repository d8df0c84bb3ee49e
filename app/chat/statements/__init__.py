"""Statements of a reply that a model wrote: read piece by piece, kept where the evidence holds them, else said anew.

Imports `strategies.base`, `llm.tasks`, the language and sentences of `llm.embedded`, `privacy.pseudonym_format` and
`kg_store`.
"""
