"""The routes by subject; each module adds its own to one of the routers.

Imports the services that `wiring` builds, and the wire types of the SDK.
"""

from app.api.routes import accounts, chat, graphs, memory

__all__ = ["accounts", "chat", "graphs", "memory"]
