"""Everything on disk: the vault, versions, erasures, the master key.

Imports only the errors.
"""
