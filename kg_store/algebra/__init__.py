"""The set algebra: parses and evaluates the expressions in a draft answer.

Imports `graph` and `text`.
"""
