"""One version of a graph, opened: nodes, steps, schema, views of roles, and among how many others an entity is hidden.

Imports `text` and `storage`.
"""
