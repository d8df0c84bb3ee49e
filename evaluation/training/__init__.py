"""Trains what is added to the sentence model: heads, a matcher, and the retriever of facts.

Imports `llm` and `retriever` alone; `evaluation` gathers the examples and has the commands.
"""
