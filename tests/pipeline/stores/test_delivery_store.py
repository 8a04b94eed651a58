"""Which message on Discord belongs to which turn."""

from __future__ import annotations

from dataclasses import replace

from pipeline.journal import Delivery
from pipeline.stores.store import Store


def delivery(slot: str, message: str = "1", turn: str = "1") -> Delivery:
    return Delivery(turn=turn, slot=slot, nonce=f"n-{slot}", message=message)


async def test_deliveries_come_back_in_the_order_of_their_slots(store: Store) -> None:
    for slot in ("reply:10", "reply:9", "card:abc"):
        await store.deliveries.put(delivery(slot))
    await store.deliveries.put(delivery("reply:0", turn="2"))
    assert [found.slot for found in await store.deliveries.of_turn("1")] == ["reply:9", "card:abc", "reply:10"]
    assert await store.deliveries.of_turn("2") == [delivery("reply:0", turn="2")]


async def test_a_slot_holds_its_newest_message(store: Store) -> None:
    await store.deliveries.put(delivery("reply:0", "1"))
    await store.deliveries.put(delivery("reply:0", "2"))
    assert await store.deliveries.of_turn("1") == [delivery("reply:0", "2")]


async def test_a_dropped_slot_is_gone(store: Store) -> None:
    await store.deliveries.put(delivery("reply:0"))
    await store.deliveries.drop("1", "reply:0")
    await store.deliveries.drop("1", "reply:0")
    assert await store.deliveries.of_turn("1") == []


async def test_chips_are_found_by_their_emojis(store: Store) -> None:
    waiting, used = (
        Delivery(turn=n, slot="chip:10", nonce=emoji, message=n) for n, emoji in (("1", "⏳"), ("2", "✅"))
    )
    for row in (waiting, used, Delivery(turn="1", slot="reply:0", nonce="⏳", message="9")):
        await store.deliveries.put(row)
    assert await store.deliveries.chips(["⏳", "👀"]) == [waiting]
    await store.deliveries.put(replace(waiting, nonce="✖️"))
    assert await store.deliveries.chips(["⏳", "👀"]) == []
