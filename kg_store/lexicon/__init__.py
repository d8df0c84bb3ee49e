"""The lexicon: the words that may be sent from a person's text, which are common words of a language without proper
names.

May import numbers and letters of `kg_store`, nothing of `app`. `make.py` writes the lists, `lexicon.py` reads them.
"""
