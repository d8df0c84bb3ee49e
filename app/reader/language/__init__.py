"""English for the reader: word forms, synonyms, idioms, forms of question, and other languages told apart.

Imports `llm.embeddings` and `kg_store.text`.
"""
