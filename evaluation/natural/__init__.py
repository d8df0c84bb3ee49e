"""Asks questions as people really ask them, over several graphs, and judges what comes back.

Imports `bench`, `checks` and `tables.measures`. The questions lie in `sets`, whose README.md says how they were made.
"""
