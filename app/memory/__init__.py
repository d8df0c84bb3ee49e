"""Remembers facts that people tell, and cases: questions with the relation paths that answered them, from ratings.

May import strategies, the reasoner's tasks, privacy and the database; of the packages that answer, only the chat
imports it.
"""
