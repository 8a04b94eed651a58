"""The bot's notes about channels, and reminders."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op
from sqlalchemy import Column

revision = "0004"
down_revision = "0003"

_WAITS = sa.text("closed_at IS NULL")


def upgrade() -> None:
    op.create_table(
        "memories",
        Column("channel", sa.String(), primary_key=True),
        Column("text", sa.Text(), nullable=False),
        Column("at", sa.Double(), nullable=False),
    )
    op.create_table(
        "reminders",
        Column("reminder", sa.String(), primary_key=True),
        Column("user", sa.String(), nullable=False),
        Column("channel", sa.String(), nullable=False),
        Column("guild", sa.String(), nullable=False),
        Column("message", sa.String(), nullable=False),
        Column("text", sa.Text(), nullable=False),
        Column("due", sa.Double(), nullable=False),
        Column("tried_at", sa.Double()),
        Column("closed_at", sa.Double()),
    )
    op.create_index("waiting_reminders", "reminders", ["due"], sqlite_where=_WAITS, postgresql_where=_WAITS)
