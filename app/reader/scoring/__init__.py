"""Scores paths against a question.

Imports `language` and `embeddings`.
"""
