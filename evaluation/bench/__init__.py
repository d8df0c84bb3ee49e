"""Run question sets through the service and report the results.

Imports `datasets`, `checks`, `fakes`, and the service.
"""
