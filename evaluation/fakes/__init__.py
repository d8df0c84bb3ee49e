"""Fakes of a model endpoint: they keep its contract, and say that they are fakes.

Imports `datasets` and the public contract.
"""
