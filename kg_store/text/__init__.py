"""Text: normal forms, dates, numbers, units, labels, and forms of English words.

Imports the terms and the lexicon of `kg_store`, and otherwise nothing of this project.
"""
