"""The words that may leave in a person's text: common words of a language, with every proper name taken out.

May import numbers and letters of `kg_store`, nothing of `app`. `make.py` writes the lists, `lexicon.py` reads them;
`place_adjectives.py` has the adjectives of countries and other places.
"""

from kg_store.lexicon.lexicon import in_any_lexicon, in_lexicon, kinds_of, words_of_language

__all__ = ["in_any_lexicon", "in_lexicon", "kinds_of", "words_of_language"]
