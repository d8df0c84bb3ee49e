"""Ranks candidate facts by how much they matter to a dialogue (SURGE, section 3.3), without reading any name.

Imports only `llm.embeddings`. `evaluation.training` fits its weights, `evaluation.dialogue` measures it.
"""
