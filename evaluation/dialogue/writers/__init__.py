"""Writers of replies: the gold reply, all triples said, the reasoner inside the service, an endpoint.

Imports what reads dialogues.
"""
