"""Adapters for other libraries, each an extra: `langchain` and `llamaindex`."""
