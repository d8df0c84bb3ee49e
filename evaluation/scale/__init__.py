"""Measure the guard, the ledger and the speed of the service at large sizes, against bounds.

Imports `bench`, `datasets` and the service.
"""
