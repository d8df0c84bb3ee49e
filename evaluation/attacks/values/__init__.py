"""Attackers who guess masked values by what answers tell.

Imports `attacks.setup` and `evaluation`.
"""
