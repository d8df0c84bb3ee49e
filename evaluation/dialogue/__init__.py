"""Dialogues over a graph, with the facts that their replies use: how well the retriever and others rank those facts.

Imports `retriever`, `training`, `tables.measures` and `datasets.questions`.
"""
