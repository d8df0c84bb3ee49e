"""Text: normal forms, dates, numbers, labels, words of English.

Imports nothing of ours.
"""
