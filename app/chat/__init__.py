"""Answers one chat request, from the question to the sealed reply, in stages that hand on one QuestionRun.

Imports `strategies`, `accounts`, `egress`, `privacy`, `kg_store`.
"""
