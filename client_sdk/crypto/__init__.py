"""Key pairs, encryption suites and sealed capsules, based on the library `cryptography`.

Imports the protocol and `errors`.
"""
