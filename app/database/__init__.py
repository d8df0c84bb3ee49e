"""The database: its engine, its tables and its first migration.

Imports `kg_store.storage.tables` alone.
"""
