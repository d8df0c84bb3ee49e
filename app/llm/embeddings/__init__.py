"""Sentence embeddings: the model's files, its encoders, batches of texts.

Imports nothing of this project above `settings`.
"""
