"""The HTTP API: authentication, limits, errors, streams and uploads; the routes are in `routes`.

Imports the services that `wiring` builds, but not the modules that they consist of.
"""
