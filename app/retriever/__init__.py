"""Ranks candidate facts by a whole dialogue (SURGE, section 3.3), without the name of anything.

Imports `llm.embeddings` alone. `training` fits it, `evaluation.dialogue` measures it.
"""
