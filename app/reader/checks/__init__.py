"""Checks of a draft against its question: the kind and the form of the answer, negation, comparison."""
