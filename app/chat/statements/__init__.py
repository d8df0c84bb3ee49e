"""Statements of a reply that a model wrote: read clause by clause, and kept where the evidence holds them.

Imports `strategies.base`, `llm.embedded`, `privacy.pseudonym_format` and `kg_store`; knows nothing of chats.
"""
