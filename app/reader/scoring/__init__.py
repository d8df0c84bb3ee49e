"""Scores relation paths by how well their words match a question.

Imports `app.reader.language` and `app.llm.embeddings`.
"""
