"""The HTTP API: authentication, limits, errors, streams, uploads; the routes lie in `routes`.

Imports the services that `wiring` builds, never what they are made of.
"""
