"""Numbers and dates in words, and in the digits of any script.

Imports `text`.
"""
