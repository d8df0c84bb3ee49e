"""Ranks the readings of a question by what they leave unread, what they give, and how like it they are in words.

Imports `app.reader.meaning` and `app.reader.scoring`.
"""
