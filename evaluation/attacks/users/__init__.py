"""Attackers who watch users, and tell them apart.

Imports `attacks.setup` and `evaluation`.
"""
