"""The `sets` strategy: all things that one head reaches by one relation form one set; a round is mostly one call.

Imports `strategies`, never another strategy.
"""
