"""The first tables. A migration is never changed: later ones stand on it."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op
from sqlalchemy import Column

revision = "0001"
down_revision = None

_ROW_NUMBER = sa.BigInteger().with_variant(sa.Integer(), "sqlite")
_HOLDS_CHANNEL = sa.text("place IN ('active', 'parked')")
_IS_OPEN = sa.text("place != 'ended'")
_IS_UNDECIDED = sa.text("verdict IS NULL")


def upgrade() -> None:
    op.create_table(
        "meta",
        Column("key", sa.String(), primary_key=True),
        Column("value", sa.String(), nullable=False),
    )
    _journal()
    _transcript()
    op.create_table(
        "deliveries",
        Column("turn", sa.String(), primary_key=True),
        Column("slot", sa.String(), primary_key=True),
        Column("nonce", sa.String(), nullable=False),
        Column("message", sa.String(), nullable=False),
    )


def _journal() -> None:
    op.create_table(
        "turns",
        Column("turn", sa.String(), primary_key=True),
        Column("channel", sa.String(), nullable=False),
        Column("guild", sa.String(), nullable=False),
        Column("user", sa.String(), nullable=False),
        Column("place", sa.String(), nullable=False),
        Column("created_at", sa.Double(), nullable=False),
    )
    op.create_index(
        "one_turn_holds_a_channel",
        "turns",
        ["channel"],
        unique=True,
        sqlite_where=_HOLDS_CHANNEL,
        postgresql_where=_HOLDS_CHANNEL,
    )
    op.create_index("open_turns", "turns", ["created_at"], sqlite_where=_IS_OPEN, postgresql_where=_IS_OPEN)
    op.create_table(
        "records",
        Column("turn", sa.String(), sa.ForeignKey("turns.turn"), primary_key=True),
        Column("seq", sa.Integer(), primary_key=True, autoincrement=False),
        Column("json", sa.Text(), nullable=False),
        Column("at", sa.Double(), nullable=False),
    )
    op.create_table(
        "approvals",
        Column("approval", sa.String(), primary_key=True),
        Column("turn", sa.String(), sa.ForeignKey("turns.turn"), nullable=False),
        Column("iteration", sa.Integer(), nullable=False),
        Column("call_index", sa.Integer(), nullable=False),
        Column("asked_at", sa.Double(), nullable=False),
        Column("expires", sa.Double(), nullable=False),
        Column("verdict", sa.String()),
        Column("by", sa.String()),
        Column("name", sa.String()),
        Column("decided_at", sa.Double()),
    )
    op.create_index(
        "undecided_approvals", "approvals", ["expires"], sqlite_where=_IS_UNDECIDED, postgresql_where=_IS_UNDECIDED
    )
    op.create_table(
        "blobs",
        Column("id", sa.String(), primary_key=True),
        Column("digest", sa.String(), nullable=False),
        Column("media_type", sa.String(), nullable=False),
        Column("data", sa.Text(), nullable=False),
    )
    op.create_index("ix_blobs_digest", "blobs", ["digest"])


def _transcript() -> None:
    op.create_table(
        "messages",
        Column("n", _ROW_NUMBER, primary_key=True),
        Column("channel", sa.String(), nullable=False),
        Column("turn", sa.String(), nullable=False),
        Column("json", sa.Text(), nullable=False),
        Column("bytes", sa.Integer(), nullable=False),
        Column("at", sa.Double(), nullable=False),
    )
    op.create_index("messages_of_a_channel", "messages", ["channel", "n"])
    op.create_table(
        "channels",
        Column("channel", sa.String(), primary_key=True),
        Column("model", sa.Text(), nullable=False),
        Column("system", sa.Text(), nullable=False),
        Column("cleared_at", sa.Double()),
    )
    op.create_table(
        "usage",
        Column("n", _ROW_NUMBER, primary_key=True),
        Column("turn", sa.String(), nullable=False),
        Column("channel", sa.String(), nullable=False),
        Column("user", sa.String(), nullable=False),
        Column("provider", sa.String(), nullable=False),
        Column("model", sa.String(), nullable=False),
        Column("input_tokens", sa.BigInteger(), nullable=False),
        Column("output_tokens", sa.BigInteger(), nullable=False),
        Column("cache_read_tokens", sa.BigInteger(), nullable=False),
        Column("cache_write_tokens", sa.BigInteger(), nullable=False),
        Column("at", sa.Double(), nullable=False),
        Column("since_clear", sa.Boolean(), nullable=False),
    )
    op.create_index("ix_usage_channel", "usage", ["channel"])
