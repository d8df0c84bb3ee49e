"""The lexicon: the common words of a language, without proper names, which may be sent from a person's text.

Imports nothing else of this project. `make.py` writes the lists, `lexicon.py` reads them.
"""
