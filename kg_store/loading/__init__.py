"""Turns raw triples into a graph: sorts the triples by their role, and finds names, relations, classes and masks.

Imports `sources`, `graph`, `names`, `storage`, `lexicon` and `text`.
"""
