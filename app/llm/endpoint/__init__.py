"""A model behind OpenAI's API: requests, retries, and checks of its replies.

Imports `llm.tasks` and `privacy.safe_text`.
"""
