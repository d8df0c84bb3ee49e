"""Questions to go on with after an answer, made from its subject and answered inside the service before they are
shown.

Imports `app.chat`, `app.llm`, `app.privacy` and `kg_store`.
"""
