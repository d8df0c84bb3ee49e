"""Logs and metrics, without a word of a question or a name.

Imports nothing of ours but the SDK's protocol.
"""
