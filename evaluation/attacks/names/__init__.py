"""Names in every place of a question: does one leave?

Imports `attacks.setup` and `evaluation`.
"""
