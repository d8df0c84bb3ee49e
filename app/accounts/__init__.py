"""Accounts: API keys, their devices, and what a key or a tenant may spend.

Imports `database` and the SDK's protocol.
"""
