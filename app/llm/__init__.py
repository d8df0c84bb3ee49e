"""Reasoners: the tasks they are asked, one in the house and one behind an endpoint.

Imports `privacy.safe_text` and the terms of the store.
"""
