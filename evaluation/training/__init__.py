"""Trains what is added to the sentence model: heads, the retriever of facts, and the extractor."""
