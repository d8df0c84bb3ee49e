"""Case memory: what answers that people rated right have taught a graph, as vectors of questions and relation paths.

It may import strategies, the reasoner's tasks, privacy and the database; nothing that answers imports it but the chat.
"""
