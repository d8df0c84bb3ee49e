"""Reads questions and writes answers in English without a language model: ranks paths, checks drafts, words replies.

The rest of the service calls it through `english.EnglishReader`, which implements `app.language.protocol.Language`.
"""
