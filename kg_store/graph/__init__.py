"""One open version of a graph: its nodes, steps and schema, the parts that roles see, and its anonymity sets.

Imports `sources`, `lexicon` and `text`.
"""
