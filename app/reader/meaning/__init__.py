"""Reads the meaning of a question: builds typed set expressions over the schema from its words and takes the best.

tests/layers.toml lists the packages that it may import.
"""
