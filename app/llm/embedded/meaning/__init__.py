"""The meaning of a question: typed set expressions over the schema, built from its words and the best of them taken.

May import the language, the scoring and the next action of the embedded reasoner, and its tasks.
"""
