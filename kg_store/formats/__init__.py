"""Readers of file formats: delimited text, workbooks, JSON and exports of property graphs, with bounds on sizes.

Imports `text`.
"""
