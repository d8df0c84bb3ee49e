"""Reads the meaning of a question: builds set expressions over the schema from its words and chooses the best one.

tests/layers.toml lists the packages that it may import.
"""
