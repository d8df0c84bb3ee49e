"""Remembers facts that people tell, and cases: questions with the relation paths that answered them, from ratings.

`embeddings` holds vectors of a graph's things, which grow with it; no answer reads them yet.

May import strategies, the reasoner's tasks, privacy and the database; of the packages that answer, only the chat
imports it.
"""
