"""Strategies: each decides which relations of the graph are followed for a question, and what prompts show of them.

Imports `egress`, `llm` and the terms of the graph.
"""
