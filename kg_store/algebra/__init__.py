"""The algebra of sets that a draft's expressions are evaluated in.

Imports `graph` and `text`.
"""
