"""Trains a small head for the embedded reasoner, from examples of questions and their paths.

Imports `llm` alone; `evaluation` gathers the examples and has the command.
"""
