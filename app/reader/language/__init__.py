"""English for the embedded reasoner: forms, synonyms, kinds of question.

Imports `llm.embeddings` and `kg_store.text`.
"""
