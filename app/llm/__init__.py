"""Reasoners: the tasks they are asked, one reasoner inside the service, and one behind an endpoint.

Imports `privacy.safe_text` and the terms of the store.
"""
