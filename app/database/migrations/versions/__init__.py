"""Migrations, one a file; the first makes all tables.

They import nothing of ours.
"""
