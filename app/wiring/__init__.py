"""Builds all services of a process from its settings.

Imports everything below `api`.
"""
