"""Measures of replies beside attachment: KQA and string match (Kang et al., 2023), shared words, variety, intervals.

Imports what reads dialogues.
"""
