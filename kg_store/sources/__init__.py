"""Source files: RDF, lists of triples, tables, and the policy for them.

Imports `formats` and `text`.
"""
