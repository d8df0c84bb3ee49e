"""Sets: what hangs on one head by one relation is one set, and one call makes one round.

Imports `strategies`, never another strategy.
"""
