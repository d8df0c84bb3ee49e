"""Proposes policies for new files, and previews what a model would see under a policy.

Imports `loading`, `graph`, `sources`, `formats`, `storage`, `lexicon` and `text`.
"""
