"""The ledger of all that left: sealed rows in a chain that shows every change.

Imports `privacy`, `database` and `kg_store`.
"""
