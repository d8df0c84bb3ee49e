"""Asks a model behind OpenAI's API: builds requests, sends and retries them, and checks the replies.

Imports `llm.tasks` and `privacy.safe_text`.
"""
