"""`arog login` and `arog logout`: sign a person in and out, in the place of an API key."""

from __future__ import annotations

import os
import sys
from typing import Annotated

import typer

from client_sdk.cli.settings import PlainHttp, Url, chosen_url


def login(
    url: Url = None,
    browser: Annotated[bool, typer.Option("--browser/--no-browser", help="Open the address in a browser")] = True,
    plain_http: PlainHttp = False,
) -> None:
    """Sign in at the service's OpenID provider, in a browser. Commands without an API key ask as you from then on."""
    from client_sdk.sign_in import begin

    prompt = begin(chosen_url(url), plain_http=plain_http)
    print(f"Open {prompt.address} and enter the code {prompt.code}", file=sys.stderr)
    if browser and prompt.whole_address and sys.stderr.isatty():
        import webbrowser

        webbrowser.open(prompt.whole_address)
    prompt.wait()
    print("you are signed in", file=sys.stderr)
    if os.environ.get("AROG_API_KEY") or os.environ.get("AROG_API_KEY_FILE"):
        print("AROG_API_KEY is set, and goes before your sign-in: unset it to ask as yourself", file=sys.stderr)


def logout(url: Url = None) -> None:
    """Delete your sign-in from this machine, and revoke it at the provider."""
    from client_sdk.sign_in import sign_out

    print("you are signed out" if sign_out(chosen_url(url)) else "you were not signed in", file=sys.stderr)
