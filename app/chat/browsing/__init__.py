"""A graph without a model: suggested questions, and the graph itself to look through.

Imports `app.chat` and `kg_store`.
"""
