"""Reads source files (RDF, lists of triples, tables) as triples, according to a policy.

Imports `formats`, `lexicon` and `text`.
"""
