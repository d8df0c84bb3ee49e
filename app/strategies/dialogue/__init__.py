"""Dialogue: replies to turns that talk about things of the graph, made from the facts most relevant to the turn.

Imports `strategies` and `retriever`, never another strategy.
"""
