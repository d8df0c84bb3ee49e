"""Answers with their names: text, evidence, pictures, tables.

Imports the protocol and `restore`.
"""
