"""Text: normal forms, dates, numbers, labels, and words of English.

Imports nothing of this project.
"""
