"""The command `arog`: ask, chat, devices, proxy.

Imports all of the SDK.
"""
