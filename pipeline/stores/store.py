"""The stores of one database, together."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from pipeline.deliberate import Affordances
from pipeline.journal import Conversations, Deliveries, Journal
from pipeline.memory import ShortTermMemory
from pipeline.reminders import Reminders
from pipeline.stores.affordances import AffordanceStore
from pipeline.stores.conversation_store import ConversationStore
from pipeline.stores.database import Database
from pipeline.stores.delivery_store import DeliveryStore
from pipeline.stores.journal_store import JournalStore
from pipeline.stores.memory import MemoryStore
from pipeline.stores.reminders import ReminderStore


@dataclass(frozen=True, slots=True, kw_only=True)
class Store:
    """Everything that survives a crash."""

    journal: Journal
    conversations: Conversations
    deliveries: Deliveries
    memory: ShortTermMemory
    reminders: Reminders
    affordances: Affordances

    @classmethod
    def on(cls, database: Database, clock: Callable[[], float]) -> Store:
        """The stores in `database`, whose tables exist. `clock` gives epoch seconds."""
        return cls(
            journal=JournalStore(database, clock),
            conversations=ConversationStore(database),
            deliveries=DeliveryStore(database),
            memory=MemoryStore(database, clock),
            reminders=ReminderStore(database, clock),
            affordances=AffordanceStore(database),
        )
