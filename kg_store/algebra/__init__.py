"""The algebra of sets in which a draft's expressions are evaluated.

Imports `graph` and `text`.
"""
