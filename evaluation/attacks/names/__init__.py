"""Names in every place of a question: does one leave?

Imports `attacks.setup`, templates of `attacks.forms.corpus`, and `evaluation`.
"""
