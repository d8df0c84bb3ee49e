"""Searches a graph by strategies: each decides which relations are followed, and what prompts show of them.

Imports `egress`, `llm` and the terms of the graph.
"""
