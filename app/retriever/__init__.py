"""Ranks candidate facts by a whole dialogue (SURGE, section 3.3), without any name.

Imports only `llm.embeddings`. `training` fits it, `evaluation.dialogue` measures it.
"""
