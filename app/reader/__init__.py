"""Reads and words English without a model: understands questions, ranks paths, checks drafts, words answers.

The rest of the service reaches it through `english.EnglishReader`, which is one `app.language.protocol.Language`.
"""
