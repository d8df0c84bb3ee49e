"""Questions that depend on earlier turns: they are completed, or the service asks back.

Imports `privacy` and `kg_store`.
"""
