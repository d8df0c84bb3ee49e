"""All that leaves the house: guarded, metered, budgeted and written to the ledger.

Imports `llm`, `privacy` and `kg_store`.
"""
