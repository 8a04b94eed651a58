"""The settings' providers as the pipeline takes them."""

from __future__ import annotations

from collections.abc import Iterator

import httpx

from bot.settings import Settings
from bot.settings_text import value_text
from pipeline.provider import Provider
from pipeline.providers import ProviderConfig, build


def build_providers(settings: Settings, client: httpx.AsyncClient) -> tuple[Provider, ...]:
    """All configured providers, the first of `MODEL_CHAIN` first; nothing connects before a request.

    Raises ValueError, with a sentence for people, for a provider that can never answer.
    """
    return tuple(_build(config, client) for config in _configs(settings))


def _configs(settings: Settings) -> Iterator[ProviderConfig]:
    chain: dict[str, str] = {}
    for ref in settings.models:
        chain.setdefault(ref.provider, ref.model)
    for name in dict.fromkeys([*chain, *settings.providers]):
        provider = settings.providers[name]
        yield ProviderConfig(
            name=name,
            kind=provider.kind,
            base_url=provider.base_url,
            api_key=next(iter(provider.keys), None),
            more_keys=provider.keys[1:],
            model=chain.get(name) or provider.model,
            max_output_tokens=provider.max_output_tokens,
            retry_attempts=settings.provider_retry_attempts,
            thinking_budget_tokens=provider.thinking_budget_tokens,
            effort=provider.effort,
            prompt_cache=provider.prompt_cache,
            sees_images=provider.sees_images,
            has_tools=provider.has_tools,
            verbatim_tools=provider.verbatim_tools,
            text_call_max_chars=settings.verbatim_tool_call_max_buffer_chars,
            output_limit_field=provider.output_limit_field,
            key_variable=settings.key_variable(name),
        )


def _build(config: ProviderConfig, client: httpx.AsyncClient) -> Provider:
    provider = build(config, client)
    if not provider.model:
        name = config.name.upper()
        raise ValueError(
            f"PROVIDERS__{name}__MODEL is not set, and there is no default for {value_text(config.base_url)}."
        )
    return provider
