"""Writes the sentences of the embedded reasoner: answers, questions and replies in dialogue.

Imports `language` and the algebra's expressions.
"""
