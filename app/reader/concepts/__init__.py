"""Finds concepts for things without a class: the nouns in relation labels, and the noun on which the
relations agree.
"""
