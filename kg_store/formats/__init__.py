"""Formats of files: delimited text, workbooks, JSON, exports of property graphs, and bounds on what they hold.

Imports `text`.
"""
