"""Builds the services from the settings, once.

Imports everything below `api`.
"""
