"""Embeddings of a graph's entities and relations, and how they grow with the graph without training anew."""
