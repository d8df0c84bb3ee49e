"""Lines of `arog serve` for the terminal of whoever started it."""

from __future__ import annotations

import pytest

from app.cli.serve import EndpointWarnings
from client_sdk.protocol import EndpointState, EndpointStatus


def found(state: EndpointState, problem: str = "", position: int = 1) -> EndpointStatus:
    return EndpointStatus(position=position, state=state, problem=problem)


def test_an_endpoint_that_can_not_be_used_is_a_warning_with_its_address(capsys: pytest.CaptureFixture[str]) -> None:
    EndpointWarnings()(found("unreachable", "connection refused"), "127.0.0.1:11434")
    told = capsys.readouterr().err
    assert told.startswith("Warning: model endpoint 1 at 127.0.0.1:11434 can't be used: connection refused. ")
    assert "AROG_ENDPOINT_URL" in told


def test_what_can_be_used_again_is_told_and_what_always_could_is_not(capsys: pytest.CaptureFixture[str]) -> None:
    tell = EndpointWarnings()
    tell(found("ready", position=2), "box:1")
    assert capsys.readouterr().err == ""
    tell(found("unreachable", "connection refused", position=2), "box:1")
    tell(found("ready", position=2), "box:1")
    tell(found("ready", position=2), "box:1")
    assert capsys.readouterr().err.count("Model endpoint 2 at box:1 can be used now.") == 1
