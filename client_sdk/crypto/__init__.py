"""Keys, suites and sealed capsules, by the library `cryptography`.

Imports the protocol and `errors`.
"""
