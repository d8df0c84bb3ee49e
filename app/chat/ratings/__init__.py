"""Ratings of answers, and the cases that they add or remove.

May import conversations, the case memory and the graphs.
"""
