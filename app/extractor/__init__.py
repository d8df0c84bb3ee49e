"""Finds the span of a text that fills the unknown end of a fact, or tells that there is none. The sentence model reads
the text, a small network of numpy runs above it; `arog train extractor` makes its weights.
"""
