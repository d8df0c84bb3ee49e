"""Controls every request to a model: it is measured, budgeted, checked by the guard and written to the ledger.

Imports `llm`, `privacy` and `kg_store`.
"""
