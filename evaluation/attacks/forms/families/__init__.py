"""Families 1 to 10: a file each or two, a generator of cases each; they know the corpus and nothing of the service."""
