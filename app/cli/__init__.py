"""The commands of the service, for those who run it and own graphs.

Imports everything below it; `main` and `api` only to start them.
"""
