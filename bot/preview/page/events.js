// What each event of the stream changes on the page.

import { showModal } from "./actions.js";
import { mentions } from "./parts.js";

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
    case "bot":
      page.botOnline = event.online;
      return page.draw();
    case "channel_create":
      if (event.channel?.type === 1) return page.learnDirect(event.channel_id, event.channel.recipients[0].id);
      return onWorld(page);
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
  const { message } = event;
  const direct = page.directory.channels.get(event.channel_id)?.type === 1;
  if (message.author?.id === page.viewer.id || (direct && event.channel_id !== page.directId)) return undefined;
  const unread = page.unread.get(event.channel_id) ?? { mentions: 0 };
  const mentioned = direct || mentions(message, page.viewer, page.directory);
  page.unread.set(event.channel_id, { mentions: unread.mentions + (mentioned ? 1 : 0) });
  return page.draw();
}

async function onWorld(page) {
  await page.attempt(page.readWorld());
  if (!page.channel.startsWith("@") && !page.directory.channels.has(page.channel)) await page.openFromHash();
  else page.log.redraw();
}
