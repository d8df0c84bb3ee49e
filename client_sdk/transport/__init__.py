"""Requests to the service: one flow, driven with and without asyncio.

Imports the protocol and `errors`.
"""
