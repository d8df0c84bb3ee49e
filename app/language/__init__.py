"""Defines the border between the service and the code that reads questions: the protocol `Language` and its data.

Strategies and chats import only this package; the reader of English, `app.reader`, implements the protocol.
"""
