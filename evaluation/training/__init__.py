"""Trains what is added to the sentence model: heads, the retriever of facts, and the extractor.

Imports `llm` and `retriever` alone; `evaluation` gathers the examples and has the commands.
"""
