"""The wire types of both sides, by theme; everything is imported from here."""

from client_sdk.protocol.chat import *  # noqa: F403
from client_sdk.protocol.graphs import *  # noqa: F403
from client_sdk.protocol.service import *  # noqa: F403
