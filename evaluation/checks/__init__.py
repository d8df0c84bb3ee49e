"""Judges of replies and requests: metrics, leaks, canaries.

Imports `kg_store` and little else.
"""
