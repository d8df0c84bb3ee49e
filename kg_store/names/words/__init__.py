"""Words of names: their spellings, and hashes for similarity tests.

Imports `text`.
"""
