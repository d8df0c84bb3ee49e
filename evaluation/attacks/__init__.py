"""Attacks on the service, one a file or folder, each against a bound.

Imports `setup` beside them, `bench`, and the service through its doors.
"""
