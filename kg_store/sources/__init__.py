"""Source files: RDF, lists of triples, tables, and the policy beside them.

Imports `formats` and `text`.
"""
