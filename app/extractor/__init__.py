"""Finds the span of a text that is the unknown end of a fact (its head or tail), or reports that there is none.

The lower layers of the sentence model read the text, and a small network in numpy finds the span; `arog train
extractor` fits its weights.
"""
