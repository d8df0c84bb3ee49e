"""The index of names: finds exact and inexact mentions of entities in texts, and the words that names consist of.

Imports `storage`, `lexicon` and `text`.
"""
