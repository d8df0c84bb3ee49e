"""Measures the service on questions with known answers, and attacks it.

Imports all of the service; nothing imports it.
"""
