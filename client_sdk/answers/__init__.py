"""Answers with their names restored: text, evidence, pictures and tables.

Imports the protocol and `restore`.
"""
