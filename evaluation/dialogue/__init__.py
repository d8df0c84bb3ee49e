"""Dialogues over a graph, with the facts that their replies use: how well the retriever and others rank those facts,
and how well replies hold on to them."""
