"""Case memory: what a graph has learned from answers rated right, as vectors of questions and relation paths.

May import strategies, the reasoner's tasks, privacy and the database; of the packages that answer, only the chat
imports it.
"""
