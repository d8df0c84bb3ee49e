"""Words of names alone: their spellings, and hashes that tell what is near.

Imports `text`.
"""
