"""Sentences that the embedded reasoner writes.

Imports `language` and the algebra's expressions.
"""
