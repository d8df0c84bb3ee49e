"""The algorithm of the ARoG paper, step by step.

Imports `strategies`, never another strategy.
"""
