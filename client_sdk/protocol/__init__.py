"""The wire types of service and SDK, by theme; import them all from here."""

from client_sdk.protocol.browsing import *  # noqa: F403
from client_sdk.protocol.chat import *  # noqa: F403
from client_sdk.protocol.graphs import *  # noqa: F403
from client_sdk.protocol.memory import *  # noqa: F403
from client_sdk.protocol.service import *  # noqa: F403
