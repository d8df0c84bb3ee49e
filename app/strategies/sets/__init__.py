"""The `sets` strategy: all things that one head reaches by one relation form one set, and each round is one call.

Imports `strategies`, never another strategy.
"""
