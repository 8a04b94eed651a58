"""What people see: pure builders (chunks, layout, card, embeds) and the tasks that bring it to Discord."""
