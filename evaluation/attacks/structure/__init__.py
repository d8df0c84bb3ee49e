"""Attackers who hold the graph, and match what they see to it.

Imports `attacks.setup` and `evaluation`.
"""
