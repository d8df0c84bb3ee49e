"""Attacks on the service, one per file or folder; each has a bound that its success rate must keep.

`targets.py` holds the service and the graphs that are attacked. The attacks import `bench`, `checks`, `fakes`, and the
service.
"""
