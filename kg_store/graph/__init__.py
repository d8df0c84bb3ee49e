"""One version of a graph, opened: nodes, steps, schema, roles' views.

Imports `text` and `storage`.
"""
