"""The tables. What a database holds is made by the migrations; a test holds both against each other."""

from __future__ import annotations

from sqlalchemy import (
    BigInteger,
    Boolean,
    Column,
    Double,
    ForeignKey,
    Index,
    Integer,
    MetaData,
    String,
    Table,
    Text,
    literal_column,
)

metadata = MetaData()

# SQLite numbers rows by itself only in a column of exactly this type.
_RowNumber = BigInteger().with_variant(Integer, "sqlite")

meta = Table(
    "meta",
    metadata,
    Column("key", String, primary_key=True),
    Column("value", String, nullable=False),
)

turns = Table(
    "turns",
    metadata,
    Column("turn", String, primary_key=True),
    Column("channel", String, nullable=False),
    Column("guild", String, nullable=False),
    Column("user", String, nullable=False),
    Column("place", String, nullable=False),
    Column("created_at", Double, nullable=False),
    Column("follow_ups", Integer, nullable=False, server_default="0"),
)

# Literals, not parameters: only then does SQLite see that a partial index serves a query.
IS_OPEN = turns.c.place != literal_column("'ended'")
HOLDS_CHANNEL = turns.c.place.in_([literal_column("'active'"), literal_column("'parked'")])

Index(
    "one_turn_holds_a_channel",
    turns.c.channel,
    unique=True,
    sqlite_where=HOLDS_CHANNEL,
    postgresql_where=HOLDS_CHANNEL,
)
Index("open_turns", turns.c.created_at, sqlite_where=IS_OPEN, postgresql_where=IS_OPEN)

records = Table(
    "records",
    metadata,
    Column("turn", ForeignKey(turns.c.turn), primary_key=True),
    Column("seq", Integer, primary_key=True, autoincrement=False),
    Column("json", Text, nullable=False),
    Column("at", Double, nullable=False),
)

approvals = Table(
    "approvals",
    metadata,
    Column("approval", String, primary_key=True),
    Column("turn", ForeignKey(turns.c.turn), nullable=False),
    Column("iteration", Integer, nullable=False),
    Column("call_index", Integer, nullable=False),
    Column("asked_at", Double, nullable=False),
    Column("expires", Double, nullable=False),
    Column("verdict", String),
    Column("by", String),
    Column("name", String),
    Column("decided_at", Double),
)

IS_UNDECIDED = approvals.c.verdict.is_(None)

Index("undecided_approvals", approvals.c.expires, sqlite_where=IS_UNDECIDED, postgresql_where=IS_UNDECIDED)

blobs = Table(
    "blobs",
    metadata,
    Column("id", String, primary_key=True),
    Column("digest", String, nullable=False, index=True),
    Column("media_type", String, nullable=False),
    Column("data", Text, nullable=False),
)

messages = Table(
    "messages",
    metadata,
    Column("n", _RowNumber, primary_key=True),
    Column("channel", String, nullable=False),
    Column("turn", String, nullable=False),
    Column("json", Text, nullable=False),
    Column("bytes", Integer, nullable=False),
    Column("at", Double, nullable=False),
)
Index("messages_of_a_channel", messages.c.channel, messages.c.n)

channels = Table(
    "channels",
    metadata,
    Column("channel", String, primary_key=True),
    Column("model", Text, nullable=False, default=""),
    Column("system", Text, nullable=False, default=""),
    Column("cleared_at", Double),
)

usage = Table(
    "usage",
    metadata,
    Column("n", _RowNumber, primary_key=True),
    Column("turn", String, nullable=False),
    Column("channel", String, nullable=False, index=True),
    Column("user", String, nullable=False),
    Column("provider", String, nullable=False),
    Column("model", String, nullable=False),
    Column("input_tokens", BigInteger, nullable=False),
    Column("output_tokens", BigInteger, nullable=False),
    Column("cache_read_tokens", BigInteger, nullable=False),
    Column("cache_write_tokens", BigInteger, nullable=False),
    Column("at", Double, nullable=False),
    Column("since_clear", Boolean, nullable=False, default=True),
)

deliveries = Table(
    "deliveries",
    metadata,
    Column("turn", String, primary_key=True),
    Column("slot", String, primary_key=True),
    Column("nonce", String, nullable=False),
    Column("message", String, nullable=False),
)

affordances = Table(
    "affordances",
    metadata,
    Column("channel", String, primary_key=True),
    Column("tool", String, primary_key=True),
    Column("remaining", Integer, nullable=False),
    Column("turn", String, nullable=False),
)

memories = Table(
    "memories",
    metadata,
    Column("channel", String, primary_key=True),
    Column("text", Text, nullable=False),
    Column("at", Double, nullable=False),
)

reminders = Table(
    "reminders",
    metadata,
    Column("reminder", String, primary_key=True),
    Column("user", String, nullable=False),
    Column("channel", String, nullable=False),
    Column("guild", String, nullable=False),
    Column("message", String, nullable=False),
    Column("text", Text, nullable=False),
    Column("due", Double, nullable=False),
    Column("tried_at", Double),
    Column("closed_at", Double),
)

WAITS = reminders.c.closed_at.is_(None)

Index("waiting_reminders", reminders.c.due, sqlite_where=WAITS, postgresql_where=WAITS)
