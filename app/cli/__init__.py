"""The commands of the service and its owners.

Imports everything below it; `main` and `api` only to start them.
"""
