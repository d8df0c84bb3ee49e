"""Everything that is stored: the data folder, the database tables, the vault, versions, erasures and the master key.

Imports only the errors and terms of `kg_store`.
"""
