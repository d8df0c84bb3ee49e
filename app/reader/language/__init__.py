"""English for the reader: word forms, synonyms, idioms, forms of question, and detection of other languages.

Imports `app.llm.embeddings` and `kg_store.text`.
"""
