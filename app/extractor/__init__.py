"""Finds the span of a text that fills the unknown end of a fact, or reports that there is none.

The sentence model reads the text, and a small numpy network runs on top of it; `arog train extractor` fits its
weights.
"""
