"""Counts the entities that fit what a prompt tells of one.

Imports `graph`.
"""
