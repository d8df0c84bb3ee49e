"""Proposes policies for new files, and previews what a model would see under a policy.

Imports `sources` and `loading`.
"""
