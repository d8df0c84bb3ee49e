"""Computes sentence embeddings: finds the model's files, loads its encoder, and embeds texts in batches.

Imports nothing of this project above `settings`.
"""
