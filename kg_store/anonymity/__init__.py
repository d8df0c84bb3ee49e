"""How many entities fit what a prompt tells of one.

Imports `graph`.
"""
