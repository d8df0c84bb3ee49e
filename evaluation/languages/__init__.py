"""Asks questions in other languages than English, and compares names of relations in four languages."""
