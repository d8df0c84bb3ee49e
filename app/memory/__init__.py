"""Remembers cases: vectors of questions with the relation paths that answered them, learnt from ratings.

May import strategies, the reasoner's tasks, privacy and the database; of the packages that answer, only the chat
imports it.
"""
