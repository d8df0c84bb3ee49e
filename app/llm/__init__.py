"""Defines reasoners and their tasks: the interface, the one behind a model's endpoint, and sentence embeddings.

Imports `privacy.safe_text` and the terms of the store.
"""
