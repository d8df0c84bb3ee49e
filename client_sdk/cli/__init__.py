"""The command `arog` of the SDK: ask, chat, devices, proxy.

Imports all of the SDK.
"""
