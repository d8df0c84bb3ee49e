"""Replies with planted falsehoods, and what the check of statements lets through of them.

Imports `chat.statements`, `strategies.base`, `tables.measures` and `datasets.questions`.
"""
