"""Words that may leave, and the places in a sentence where a word is somebody's name.

Imports `kg_store`.
"""
