"""The embedded reasoner: answers without a model, from the words of relations.

Imports `embeddings`, `privacy.safe_text` and the terms of `kg_store`.
"""
