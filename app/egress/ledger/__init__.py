"""The ledger of everything that left: sealed rows in a chain that reveals every change.

Imports `privacy`, `database` and `kg_store`.
"""
