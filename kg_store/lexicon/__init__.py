"""The words that may leave in a person's text: common words of a language, with every proper name taken out.

May import numbers and letters of `kg_store`, nothing of `app`. `make.py` writes the lists, `lexicon.py` reads them.
"""
