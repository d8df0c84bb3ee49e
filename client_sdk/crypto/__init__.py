"""Keys, suites and sealed capsules, by the library `cryptography`.

Imports nothing of ours.
"""
