"""Dialogue: replies to turns that talk about things of the graph, from the facts that matter to the turn.

Imports `strategies` and `retriever`, never another strategy.
"""
