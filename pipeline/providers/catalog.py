"""The configured providers, and how people name them."""

from __future__ import annotations

from collections.abc import Sequence

from pipeline.provider import Provider


class Catalog:
    """A `ProviderCatalog` of `providers`; the first is the default. Raises ValueError where there is none, or where
    two have one name."""

    def __init__(self, providers: Sequence[Provider], chain: Sequence[tuple[str, str]] = ()) -> None:
        if not providers:
            raise ValueError("no provider is configured")
        self._providers = tuple(providers)
        self._chain = tuple(chain)
        self._by_name = {provider.name.casefold(): provider for provider in providers}
        if len(self._by_name) < len(self._providers):
            raise ValueError("two providers have the same name")

    @property
    def default(self) -> Provider:
        return self._providers[0]

    @property
    def chain(self) -> Sequence[tuple[Provider, str]]:
        """The entries of the operator's chain; without one, the default provider's own model."""
        named = [(self._by_name[name.casefold()], model) for name, model in self._chain]
        return named or [(self.default, self.default.model)]

    def find(self, name: str) -> tuple[Provider, str] | None:
        """`provider/model` with any model of that provider; or a provider's name, which stands for its model; or a
        configured model's name. Model names may hold slashes of their own."""
        wanted = name.strip()
        head, slash, model = wanted.partition("/")
        if slash and model and (provider := self._by_name.get(head.casefold())) is not None:
            return provider, model
        if (provider := self._by_name.get(wanted.casefold())) is not None:
            return provider, provider.model
        for provider in self._providers:
            if wanted and provider.model.casefold() == wanted.casefold():
                return provider, provider.model
        return None

    def choices(self) -> Sequence[str]:
        """Every `provider/model` that is configured, the default first."""
        return [f"{provider.name}/{provider.model}" for provider in self._providers]
