"""Strategies: which steps of the graph a question walks, and what it shows of them.

Imports `egress`, `llm` and the terms of the graph.
"""
