"""The index of names: exact and inexact mentions, and parts of names.

Imports `text` and `storage`.
"""
