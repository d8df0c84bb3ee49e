"""Previews that show owners what a model would see of their files, and the changes that owners make to the policy.

Imports `app.chat.sealing`, `client_sdk.protocol` and `kg_store`.
"""
