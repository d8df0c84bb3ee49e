"""Words that may leave, and places where a word is somebody's name.

Imports `kg_store`.
"""
