"""Replaces names, values and unknown words of a text by pseudonyms, and keeps the table that maps them back.

Imports `kg_store` and the wire types.
"""
