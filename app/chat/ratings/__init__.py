"""Ratings of answers: what they leave as a case, or take away.

It may import conversations, the case memory and the graphs.
"""
