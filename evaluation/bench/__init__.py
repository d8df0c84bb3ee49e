"""Runs question sets through the service, and reports what came back.

Imports `datasets`, `checks`, `fakes`, and the service.
"""
