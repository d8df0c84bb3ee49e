"""A question as tokens: the role of each word, values with what compares them, adjectives that measure.

Imports `language` and `kg_store.text`.
"""
