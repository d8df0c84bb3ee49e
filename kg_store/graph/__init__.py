"""One version of a graph, opened: nodes, steps, schema, and views of roles.

Imports `text` and `storage`.
"""
