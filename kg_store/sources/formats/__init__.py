"""Formats beside RDF and delimited text: workbooks, JSON, and exports of property graphs.

Imports `text`.
"""
