"""The tools that stay on offer in a channel."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op
from sqlalchemy import Column

revision = "0002"
down_revision = "0001"


def upgrade() -> None:
    op.create_table(
        "affordances",
        Column("channel", sa.String(), primary_key=True),
        Column("tool", sa.String(), primary_key=True),
        Column("remaining", sa.Integer(), nullable=False),
        Column("turn", sa.String(), nullable=False),
    )
