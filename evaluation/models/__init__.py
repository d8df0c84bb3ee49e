"""Real models beside the embedded reasoner: a small one that runs here, and tables that compare models.

Imports `bench`, `checks`, `datasets`, `fakes`, `tables.measures` and the service.
"""
