"""Follow-ups wait in front of other messages."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op
from sqlalchemy import Column

revision = "0003"
down_revision = "0002"


def upgrade() -> None:
    op.add_column("turns", Column("follow_ups", sa.Integer(), nullable=False, server_default="0"))
