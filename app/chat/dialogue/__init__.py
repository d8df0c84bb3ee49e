"""Questions that lean on earlier turns: completed, or asked back about.

Imports `privacy` and `kg_store`.
"""
