"""Policies proposed for files, and previews of what they would show.

Imports `sources` and `loading`.
"""
