"""The index of names: finds exact and inexact mentions of entities in texts, and the words that names consist of.

Imports `text` and `storage`.
"""
