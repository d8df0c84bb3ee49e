"""Numbers and dates in words and in any script's figures.

Imports `text`.
"""
