"""Reads a question as tokens: the role of each word, values with their comparisons, and adjectives that measure.

Imports `app.reader.language` and `kg_store.text`.
"""
