"""Tables of bounds: one measure a file, and one command each.

Imports `bench` and all below it.
"""
