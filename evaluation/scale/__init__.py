"""The guard, the ledger and a service under load at sizes that hurt, against bounds.

Imports `bench`, `datasets` and the service.
"""
