"""Browsing a graph without a model: suggested questions, and the graph itself.

Imports `app.chat` and `kg_store`.
"""
