"""The door of REST: authorization, body, faults, rate limits, the handler, and the record of it all."""

from __future__ import annotations

import logging
import re
from collections.abc import Mapping
from typing import Any, Protocol

import orjson
from aiohttp import web
from aiohttp.web_request import FileField

from bot.preview.backend import Backend
from bot.preview.errors import DiscordError, error, unauthorized
from bot.preview.faults import Fault, Faults
from bot.preview.files import MAX_FILE_BYTES
from bot.preview.rates import Verdict, too_many
from bot.preview.recorder import Recorder
from bot.preview.router import Answer, Call, Route, Router, Upload

_log = logging.getLogger(__name__)
PREFIX = re.compile(r"/api(?:/v(?:9|10))?(?=/)")


class Validator(Protocol):
    """Holds a call against a description of the API; tests give one."""

    def request(self, method: str, template: str, call: Call) -> None: ...

    def answer(self, method: str, template: str, answer: Answer) -> None: ...

    def crash(self, method: str, template: str, error: Exception) -> None: ...


class Cut(Exception):
    """The connection is dropped without an answer."""


class Api:
    """Serves `/api/v10/...`."""

    def __init__(
        self,
        backend: Backend,
        router: Router,
        *,
        faults: Faults,
        recorder: Recorder,
        validator: Validator | None,
    ) -> None:
        self._backend = backend
        self._router = router
        self._faults = faults
        self._recorder = recorder
        self._validator = validator

    async def handle(self, request: web.Request) -> web.StreamResponse:
        clock = self._backend.clock
        started = clock.monotonic()
        path = PREFIX.sub("", request.rel_url.raw_path, count=1)
        route: Route | None = None
        call: Call | None = None
        verdict = Verdict(headers={})
        headers: Mapping[str, str] = {}
        cut = False
        try:
            route, params = self._router.find(request.method, path)
            if route.auth == "bot" and request.headers.get("Authorization") != f"Bot {self._backend.world.token}":
                raise unauthorized()
            call = await _read(request, params)
            verdict = self._backend.rates.check(route.method, route.template, params)
            answer, headers = await self._answer(route, call, verdict)
        except DiscordError as problem:
            answer = Answer(status=problem.status, body=problem.body())
            if self._validator is not None and route is not None:
                self._validator.answer(route.method, route.template, answer)
        except Cut:
            answer, cut = Answer(status=0), True
        except Exception as bug:  # a fault of the twin's own must show, not end the connection
            _log.exception("the twin failed at %s %s", request.method, path)
            answer = Answer(status=500, body={"message": "500: Internal Server Error", "code": 0})
            if self._validator is not None:
                self._validator.crash(request.method, path, bug)
        self._recorder.add(
            t_ms=round(started * 1000, 3),
            took_ms=round((clock.monotonic() - started) * 1000, 3),
            method=request.method,
            route=route.template if route else None,
            path=path,
            query=dict(request.query),
            body=call.body if call else None,
            files=[upload.filename for upload in call.files] if call else [],
            status=answer.status,
            code=answer.body.get("code") if answer.status >= 400 and isinstance(answer.body, dict) else None,
            bucket=verdict.bucket,
        )
        if cut and request.transport is not None:
            request.transport.abort()
        return _response(answer, {**verdict.headers, **headers})

    async def _answer(self, route: Route, call: Call, verdict: Verdict) -> tuple[Answer, Mapping[str, str]]:
        fault = self._faults.take(route)
        if fault is not None and fault.delay_ms:
            await self._backend.clock.sleep(fault.delay_ms / 1000)
        if fault is not None and not fault.after and (fault.cut or fault.status is not None):
            return _faulty(fault)
        if verdict.refused is not None:
            return Answer(status=429, body=verdict.refused), {}
        answer = route.handler(self._backend, call)
        if self._validator is not None:  # what a handler refuses need not fit
            self._validator.request(route.method, route.template, call)
            self._validator.answer(route.method, route.template, answer)
        if fault is not None and fault.after:
            return _faulty(fault)
        return answer, {}


def _faulty(fault: Fault) -> tuple[Answer, Mapping[str, str]]:
    if fault.cut or fault.status is None:
        raise Cut
    body = fault.body
    headers = dict(fault.headers)
    if fault.status == 429:
        after_s = 1.0 if fault.retry_after is None else fault.retry_after
        body = body or too_many(after_s, is_global=False)
        headers = {"Via": "1.1 twin", "Retry-After": str(after_s), "X-RateLimit-Scope": "shared", **headers}
    elif body is None:
        body = {"message": f"{fault.status}: asked for by a fault", "code": 0}
    return Answer(status=fault.status, body=body), headers


async def _read(request: web.Request, params: dict[str, str]) -> Call:
    """Raises DiscordError for a body that is not JSON (50109) or too large (40005)."""
    body: Any = None
    files: list[Upload] = []
    try:
        if request.content_type == "multipart/form-data":
            body, files = await _read_form(request)
        elif request.can_read_body:
            data = await request.read()
            body = orjson.loads(data) if data else None
    except orjson.JSONDecodeError:
        raise error(50109) from None
    except web.HTTPRequestEntityTooLarge:
        raise error(40005) from None
    if sum(len(upload.data) for upload in files) > MAX_FILE_BYTES:
        raise error(40005)
    return Call(params=params, query=request.query, body=body, files=files)


async def _read_form(request: web.Request) -> tuple[Any, list[Upload]]:
    form = await request.post()
    payload = form.get("payload_json", "{}")
    if isinstance(payload, FileField):
        payload = payload.file.read().decode()
    files = []
    for name, part in form.items():
        index = re.fullmatch(r"files\[(\d+)\]", name)
        if index is not None and isinstance(part, FileField):
            data = part.file.read()
            upload = Upload(index=int(index[1]), filename=part.filename, content_type=part.content_type, data=data)
            files.append(upload)
    return orjson.loads(payload), files


def _response(answer: Answer, headers: Mapping[str, str]) -> web.Response:
    if answer.body is None:
        return web.Response(status=answer.status or 500, headers=headers)
    # discord.py reads a JSON body only when the content type is exactly this, without a charset.
    headers = {"Content-Type": "application/json", **headers}
    return web.Response(status=answer.status, body=orjson.dumps(answer.body), headers=headers)
