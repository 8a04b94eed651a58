from __future__ import annotations

import httpx
import pytest
from genai_prices import Usage, calc_price

from pipeline.provider import ProviderCatalog
from pipeline.providers import Catalog, ProviderConfig, anthropic, build, openai_compat
from tests.pipeline.providers.helpers import config_of


def catalog() -> Catalog:
    client = httpx.AsyncClient()
    configs = [
        config_of("anthropic", name="main", model="claude"),
        config_of("openai_compat", name="router", model="vendor/model-a"),
    ]
    return Catalog([build(config, client) for config in configs])


def test_the_first_provider_is_the_default() -> None:
    made: ProviderCatalog = catalog()
    assert made.default.name == "main"
    assert list(made.choices()) == ["main/claude", "router/vendor/model-a"]


@pytest.mark.parametrize(
    ("name", "found"),
    [
        ("main", ("main", "claude")),
        ("MAIN", ("main", "claude")),
        ("main/other", ("main", "other")),
        ("router/vendor/model-b", ("router", "vendor/model-b")),
        ("claude", ("main", "claude")),
        ("vendor/model-a", ("router", "vendor/model-a")),
        (" router ", ("router", "vendor/model-a")),
    ],
)
def test_a_provider_is_found_by_its_name_its_model_or_both(name: str, found: tuple[str, str]) -> None:
    provider, model = catalog().find(name) or pytest.fail("nothing found")
    assert (provider.name, model) == found


@pytest.mark.parametrize("name", ["", "nobody", "nobody/model", "main/", "/claude"])
def test_an_unknown_name_finds_nothing(name: str) -> None:
    assert catalog().find(name) is None


def test_a_catalog_of_nothing_is_refused() -> None:
    with pytest.raises(ValueError, match="no provider"):
        Catalog([])


def test_two_providers_of_one_name_are_refused() -> None:
    provider = build(config_of("demo", name="main"), httpx.AsyncClient())
    with pytest.raises(ValueError, match="same name"):
        Catalog([provider, provider])


@pytest.mark.parametrize("kind", ["catalog", "_http", "", "other", "../demo"])
def test_an_unknown_kind_is_refused_in_a_sentence(kind: str) -> None:
    with pytest.raises(ValueError, match=r"unknown kind .*; known: anthropic, demo, novelai, openai_compat"):
        build(ProviderConfig(name="main", kind=kind), httpx.AsyncClient())


@pytest.mark.parametrize("kind", ["anthropic", "novelai", "openai_compat", "demo"])
def test_a_key_alone_is_enough_for_a_provider(kind: str) -> None:
    assert build(ProviderConfig(name="main", kind=kind), httpx.AsyncClient()).model


@pytest.mark.parametrize(("host", "model"), [*anthropic.DEFAULT_MODELS.items(), *openai_compat.DEFAULT_MODELS.items()])
def test_the_default_models_are_known_and_priced(host: str, model: str) -> None:
    price = calc_price(Usage(input_tokens=1000, output_tokens=1000), model, provider_api_url=f"https://{host}")
    assert price.total_price > 0
