"""Buttons and modals. They hold only ids, so they work after a restart."""
