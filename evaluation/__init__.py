"""Measure the service on questions with known answers, and attack it.

This package imports the service; no part of the service imports it.
"""
