"""The border between the service and what reads its questions: the protocol `Language` and the data that crosses it.

Strategies and chats know this room alone; `app.reader` reads English behind it.
"""
