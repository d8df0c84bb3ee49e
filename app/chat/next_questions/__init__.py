"""Questions to go on with after an answer: made of what it was about, and answered in the house before they are shown.

Imports `app.chat`, `app.llm`, `app.privacy` and `kg_store`.
"""
