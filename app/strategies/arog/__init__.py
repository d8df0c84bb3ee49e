"""The paper's own algorithm, step by step.

Imports `strategies`, never another strategy.
"""
