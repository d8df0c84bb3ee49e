"""Logs and metrics, without any word of a question and any name.

Imports nothing of this project except the SDK's protocol.
"""
