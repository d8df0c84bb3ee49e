"""Plans for graphs that don't say what their things are: from the best of their paths to a set expression.

May import the language and the scoring of the embedded reasoner, and its tasks. `next_action` is every reader's.
"""
