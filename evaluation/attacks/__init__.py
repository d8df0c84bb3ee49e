"""Attacks on the service, one a file or folder, each against a bound; `targets.py` is what they attack.

Imports `bench`, `checks`, `fakes`, and the service through its doors.
"""
