"""The meaning of a question: typed set expressions over the schema, built from its words and the best of them taken.

May import the language, the scoring, the words of meanings, the next action, and the tasks of the reasoner.
"""
