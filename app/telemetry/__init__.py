"""Logs and metrics that hold no word of a question and no name.

Imports nothing of this project except the SDK's protocol.
"""
