"""Finds out what a reply needs to know, and takes it from a public graph that stands beside the private one.

After "Demands-Guided Knowledge Retrieval" (DCRAG): queries and topics are the demands; facts that join the two are
foreseen, and those that touch one are unforeseen.
"""
