"""Concepts of graphs without types: those that the service gives, against labels written by hand."""
