"""From raw triples to a graph: what each triple tells, names, relations, classes, masks.

Imports `sources`, `graph`, `names`, `text`.
"""
