"""A small Discord on loopback: REST v10, the gateway and interactions, plus the page that shows a channel.

It imports neither discord nor the rest of this project, so that the real client meets a Discord and not itself.
Read `server.py` first.
"""
