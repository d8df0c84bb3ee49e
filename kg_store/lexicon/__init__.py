"""The lexicon: the words that may be sent from a person's text, which are common words of a language without proper
names.

Imports nothing else of this project. `make.py` writes the lists, `lexicon.py` reads them.
"""
