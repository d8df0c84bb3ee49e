"""Requests to the service: one flow without I/O, run by a blocking driver or one for asyncio.

Imports the protocol and `errors`.
"""
