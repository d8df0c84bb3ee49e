"""Serves the web page at `/`: files that Vite built into page/dist, under a policy that allows no foreign content."""

from __future__ import annotations

import mimetypes
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Final

from fastapi import APIRouter
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import PlainTextResponse, Response

DIST: Final = Path(__file__).parent / "page" / "dist"
# Allows scripts, styles and requests of this address only, nothing inline, and no text turned into markup or code.
# Requests also to an OpenID provider, if persons sign in at one.
POLICY: Final = "; ".join(
    (
        "default-src 'none'",
        "script-src 'self'",
        "style-src 'self'",
        "img-src 'self'",
        "connect-src {origins}",
        "base-uri 'none'",
        "form-action 'none'",
        "frame-ancestors 'none'",
        "require-trusted-types-for 'script'",
        "trusted-types 'none'",
    )
)
SIGN_IN_MARK: Final = b'<meta name="sign-in" content="openid">'
"""Tells the page that persons sign in here; it then asks `GET /sign-in` where."""
_PAGE_HEADERS: Final = {
    "Cache-Control": "no-cache",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Permissions-Policy": "camera=(), geolocation=(), microphone=()",
}
# The files' names contain a hash of their content, so they never change.
_ASSET_HEADERS: Final = {"Cache-Control": "public, max-age=31536000, immutable", "Vary": "Accept-Encoding"}
NOT_BUILT: Final = (
    "The service runs; its page for browsers is not built.\n\n"
    "Build it with Node 20.19 or newer, in the folder of arog:  make page\n"
    "Then start the service again. All else works without it: /openapi.json says what there is.\n"
)


def page_routes(dist: Path = DIST, sign_in_origins: Callable[[], Sequence[str]] = tuple) -> APIRouter:
    """Returns the routes of the page in `dist`; if it is not built, `/` tells how to build it.

    No key is needed: the files are the same for all, and contain no data. `sign_in_origins` returns the addresses of
    the OpenID provider, which the page may send requests to.
    """
    router = APIRouter(include_in_schema=False)
    index = dist / "index.html"
    page = index.read_bytes() if index.is_file() else None
    # The files are read once; a `.gz` beside a file is its compressed form.
    assets = {path.name: path.read_bytes() for path in (dist / "assets").glob("*")}

    @router.get("/")
    async def get_page() -> Response:
        if page is None:
            return PlainTextResponse(NOT_BUILT, 404)
        origins = sign_in_origins()
        policy = POLICY.format(origins=" ".join(("'self'", *origins)))
        content = page.replace(b"</head>", SIGN_IN_MARK + b"</head>") if origins else page
        return Response(content, headers={**_PAGE_HEADERS, "Content-Security-Policy": policy}, media_type="text/html")

    @router.get("/assets/{name}")
    async def get_asset(name: str, request: Request) -> Response:
        found, packed = assets.get(name), assets.get(f"{name}.gz")
        if found is None or name.endswith(".gz"):
            raise HTTPException(404)
        kind = "text/javascript" if name.endswith(".js") else mimetypes.guess_type(name)[0]
        headers = dict(_ASSET_HEADERS)
        if packed is not None and "gzip" in request.headers.get("accept-encoding", ""):
            found, headers["Content-Encoding"] = packed, "gzip"
        return Response(found, headers=headers, media_type=kind or "application/octet-stream")

    return router
