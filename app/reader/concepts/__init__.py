"""Concepts of things without a class: nouns of relations, and what all relations around a thing agree on."""
