"""Measures embeddings on graphs that grow."""
