"""Runs of `arog eval dialogue` and `arog eval attach`: replies are written, measured, and set beside the papers.

Imports writers, measures and attachment.
"""
