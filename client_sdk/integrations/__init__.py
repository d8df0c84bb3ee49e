"""Doors to other libraries, each an extra: `langchain` and `llamaindex`."""
