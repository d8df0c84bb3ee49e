"""From a draft to an answer: executed on the graph, grounded, sealed.

Imports `privacy` and `kg_store`.
"""
