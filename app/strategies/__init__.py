"""Strategies: they decide which steps of the graph a question follows, and how much of them prompts show.

Imports `egress`, `llm` and the terms of the graph.
"""
