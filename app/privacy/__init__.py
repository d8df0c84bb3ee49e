"""Replaces names, values and unknown words of a text by pseudonyms, and finds their meaning again.

Imports `kg_store` and the wire types.
"""
