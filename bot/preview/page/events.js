// What each event of the stream changes on the page.

import { showModal } from "./actions.js";
import { setClock } from "./clock.js";
import { mentions } from "./parts.js";
import { tickTimes } from "./richtext.js";

/** Applies one event; events of other channels only leave unread marks. */
export function applyEvent(page, event) {
  const here = event.channel_id !== undefined && event.channel_id === page.channel;
  switch (event.type) {
    case "message_create":
    case "message_update": return onMessage(page, event, here);
    case "message_delete": return here && page.log.remove(event.message_id);
    case "ephemeral_create":
    case "ephemeral_update": return here && event.viewer_id === page.viewer.id && page.log.put(event.message);
    case "ephemeral_delete": return here && page.log.remove(event.message_id ?? event.message?.id);
    case "reaction_add":
    case "reaction_remove": return here && page.log.react(event, event.type === "reaction_add");
    case "typing": return here && page.log.startTyping(event.user_id);
    case "modal": return event.viewer_id === page.viewer.id && showModal(page, event.interaction, event.modal);
    case "clock":
      setClock(event.now_ms);
      return tickTimes();
    case "bot":
      page.botOnline = event.online;
      return page.draw();
    case "channel_create":
      return onChannel(page, event.channel);
    case "channel_update":
    case "channel_delete":
    case "member_update":
    case "commands": return onWorld(page);
    default: return undefined; // a newer server may say more than this page knows
  }
}

function onMessage(page, event, here) {
  if (here) return page.log.put(event.message);
  if (event.type === "message_update") return undefined;
  const { message, channel_id: channel } = event;
  const direct = page.directory.channels.get(channel)?.type === 1;
  if (message.author?.id === page.viewer.id || (direct && channel !== page.directId)) return undefined;
  const known = page.unread.get(channel);
  const mentioned = direct || mentions(message, page.viewer, page.directory);
  if (known && !mentioned) return undefined;
  page.unread.set(channel, { mentions: (known?.mentions ?? 0) + (mentioned ? 1 : 0) });
  return page.draw();
}

/** A new channel: a person's direct messages, a thread (which has the id of the message it began at), or another. */
function onChannel(page, channel) {
  if (channel.type === 1) return page.learnDirect(channel.id, channel.recipients[0].id);
  const origin = page.log.list.byId.get(channel.id);
  if (origin) page.log.put({ ...origin, thread: channel });
  return onWorld(page);
}

async function onWorld(page) {
  await page.attempt(page.readWorld());
  if (!page.channel.startsWith("@") && !page.directory.channels.has(page.channel)) await page.openFromHash();
  else page.log.redraw();
}
