"""Real models beside the reasoner in the box: a small one that runs here, and tables of what models are worth.

Imports `bench`, `checks`, `datasets`, `fakes`, `tables.measures` and the service.
"""
