"""What browsers and the client fetch: the page, avatars and attachments."""

from __future__ import annotations

import mimetypes
import struct
import zlib
from pathlib import Path

from aiohttp import web

from bot.preview.backend import Backend

PAGE = Path(__file__).parent / "page"
AVATAR_SIZE = 64
COLORS = (0x5865F2, 0x757E8A, 0x3BA55C, 0xFAA61A, 0xED4245, 0xEB459E)

_HEADERS = {
    "Content-Security-Policy": "default-src 'self'; img-src 'self' data: blob:; style-src 'self' 'unsafe-inline'; "
    "frame-ancestors 'none'; base-uri 'none'; form-action 'self'",
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "no-referrer",
    "Cache-Control": "no-cache",
}


class Assets:
    def __init__(self, backend: Backend) -> None:
        self._backend = backend

    def routes(self) -> list[web.RouteDef]:
        return [
            web.get("/", self._index),
            web.get("/page/{file}", self._file),
            web.get("/attachments/{channel}/{id}/{name}", self._attachment),
            *(
                web.get(prefix + path, self._avatar)
                for prefix in ("", "/cdn")
                for path in (
                    "/embed/avatars/{name}",
                    "/avatars/{owner}/{name}",
                    "/icons/{owner}/{name}",
                    "/stickers/{name}",
                    "/emojis/{name}",
                )
            ),
        ]

    async def _index(self, _request: web.Request) -> web.StreamResponse:
        return _page_file("index.html")

    async def _file(self, request: web.Request) -> web.StreamResponse:
        return _page_file(request.match_info["file"])

    async def _attachment(self, request: web.Request) -> web.Response:
        data = self._backend.files.load(request.match_info["id"])
        if data is None:
            return web.Response(status=404)
        kind = mimetypes.guess_type(request.match_info["name"])[0] or "application/octet-stream"
        # A file that somebody sent must never run as a part of the page.
        headers = {"Content-Security-Policy": "sandbox; default-src 'none'", "X-Content-Type-Options": "nosniff"}
        return web.Response(body=data, headers={**headers, "Content-Type": kind})

    async def _avatar(self, request: web.Request) -> web.Response:
        number = zlib.crc32("/".join(request.match_info.values()).encode())
        return web.Response(body=square(COLORS[number % len(COLORS)]), headers={"Content-Type": "image/png"})


def square(color: int, size: int = AVATAR_SIZE) -> bytes:
    """A PNG of one RGB color, `size` pixels wide and high."""
    row = b"\0" + color.to_bytes(3, "big") * size
    parts = [
        (b"IHDR", struct.pack(">IIBBBBB", size, size, 8, 2, 0, 0, 0)),
        (b"IDAT", zlib.compress(row * size)),
        (b"IEND", b""),
    ]
    chunks = [
        struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data)) for kind, data in parts
    ]
    return b"\x89PNG\r\n\x1a\n" + b"".join(chunks)


def _page_file(name: str) -> web.StreamResponse:
    path = PAGE / name
    if path.parent != PAGE or not path.is_file():
        return web.Response(status=404, text="There is no such file.")
    return web.FileResponse(path, headers=_HEADERS)
