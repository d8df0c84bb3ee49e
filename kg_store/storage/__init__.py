"""Everything on disk: the vault, versions, erasures, the master key.

Imports the errors alone.
"""
