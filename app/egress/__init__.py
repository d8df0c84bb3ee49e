"""Everything that leaves the service: it is guarded, measured, budgeted and written to the ledger.

Imports `llm`, `privacy` and `kg_store`.
"""
