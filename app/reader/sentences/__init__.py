"""Writes the sentences of the embedded reasoner: answers, questions and replies in dialogue.

Imports `app.reader.language` and the expressions of `kg_store.algebra`.
"""
