"""Names and values in every form that people type, asked of the real service; every byte sent is judged.

Imports nothing of app/privacy and of linking: who judges shares no list with what is judged.
"""
