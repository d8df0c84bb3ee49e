"""Text: normal forms, dates, numbers, units, labels, and forms of English words.

Imports nothing else of `kg_store` but its terms and errors.
"""
