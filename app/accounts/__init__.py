"""API keys and their devices, budgets and quotas of keys and tenants, and the record of names that were read.

Imports `database` and the SDK's protocol.
"""
