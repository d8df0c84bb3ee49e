"""Dialogues over a graph: how well the facts that replies need are ranked, and how well replies keep to them."""
