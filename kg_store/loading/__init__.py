"""From raw triples to a graph: roles of triples, names, relations, classes, masks.

Imports `sources`, `graph`, `names`, `text`.
"""
