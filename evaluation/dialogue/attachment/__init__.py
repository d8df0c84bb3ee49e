"""Attachment of replies to the graph, as LLM-KAT (Sheikhi et al., 2025) measures it: questions, judges, other names.

Imports what reads dialogues.
"""
