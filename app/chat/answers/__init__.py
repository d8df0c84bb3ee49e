"""From a draft to an answer: the draft is checked against its evidence, executed on the graph, and sealed.

Imports `privacy` and `kg_store`.
"""
