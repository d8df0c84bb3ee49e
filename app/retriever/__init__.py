"""Ranks candidate facts by how much they matter to a dialogue (SURGE, section 3.3), without reading any name.

Imports only `llm.embeddings`. `training` fits it, `evaluation.dialogue` measures it.
"""
