"""What may be seen of a graph without asking a model: suggested questions, and the graph itself to look through.

Imports `app.chat` and `kg_store`.
"""
