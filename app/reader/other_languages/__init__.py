"""Reads plain questions in other languages than English by meaning, with the multilingual sentence model.

Imports nothing of the English reader.
"""
