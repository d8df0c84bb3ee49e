"""The database: its engine, its tables and their migrations.

Imports `kg_store.storage.tables` alone.
"""
