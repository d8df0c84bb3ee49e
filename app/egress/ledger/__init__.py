"""Keeps the ledger of every request to a model: encrypted rows in a chain that reveals every later change.

Imports `privacy`, `database` and `kg_store`.
"""
