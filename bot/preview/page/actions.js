// What people do on the page: each function is one thing a person does, as the viewer of `page`.

import { api, ApiError } from "./api.js";
import { confirmDialog, openModal } from "./modal.js";

const FAILED = "This interaction failed";

/** Sends a draft {content, reply_to?, attachments?} to the open channel. Gives the message, or undefined. */
export async function send(page, draft) {
  const message = await page.attempt(api.send({ channel: page.channel, author: page.viewer.id, ...draft }));
  if (message && page.channel.startsWith("@")) page.learnDirect(message.channel_id, page.viewer.id);
  if (message?.channel_id === page.channel) page.log.put(message);
  return message;
}

export async function runCommand(page, name, options) {
  const call = { channel: page.channel, user: page.viewer.id, name, options };
  const answer = await page.attempt(api.command(call));
  if (answer?.kind === "failed") page.toast("The application did not respond");
  else if (answer) answered(page, answer);
}

/** Presses a button or picks from a menu; `node` shows that it is under way. */
export async function click(page, message, customId, node, values) {
  node.classList.add("pending");
  node.setAttribute("aria-busy", "true");
  page.log.fail(message.id, null);
  const press = { message: message.id, user: page.viewer.id, custom_id: customId, values };
  const failure = await refusal(page, api.click(press), FAILED);
  node.classList.remove("pending");
  node.removeAttribute("aria-busy");
  page.log.fail(message.id, failure);
}

/** Waits for the answer to an interaction and shows it. Gives null, or the sentence that says why there is none. */
async function refusal(page, promise, failed) {
  try {
    const answer = (await promise) ?? {};
    if (answer.kind === "failed") return failed;
    answered(page, answer);
    return null;
  } catch (problem) {
    if (!(problem instanceof ApiError)) throw problem;
    return problem.message;
  }
}

function answered(page, answer) {
  if (answer.modal) showModal(page, answer.interaction, answer.modal);
  else if (answer.message?.channel_id === page.channel && !isShown(page, answer.message)) page.log.put(answer.message);
}

/** What is shown already is kept by events, which may have come before this answer and know better. */
function isShown(page, message) {
  return page.log.list.byId.has(String(message.id));
}

/** Opens a modal once, whether the answer to the press or the event tells of it first. */
export function showModal(page, interaction, modal) {
  const id = String(interaction?.id ?? interaction);
  if (!modal || page.modals.has(id)) return;
  page.modals.add(id);
  const submit = (fields) => api.modal({ interaction: id, user: page.viewer.id, fields });
  openModal(modal, page.directory, (fields) => refusal(page, submit(fields), "Something went wrong. Try again."));
}

/** Adds the viewer's reaction, or takes it back. */
export async function react(page, message, emoji) {
  const same = (one) => one.emoji.name === emoji.name && (one.emoji.id ?? null) === (emoji.id ?? null);
  const mine = (message.reactions ?? []).find(same)?.me ?? false;
  const name = emoji.id ? `${emoji.name}:${emoji.id}` : emoji.name;
  await page.attempt(api.react({ message: message.id, user: page.viewer.id, emoji: name, remove: mine }));
}

export function edit(page, message) {
  page.log.views.get(message.id)?.startEditing(async (content) => {
    if (!content) await remove(page, message);
    else if (content !== message.content) await page.attempt(api.edit(message.id, page.viewer.id, content));
    page.composer.focus();
  });
}

/** Opens the viewer's newest message for editing. */
export function editLast(page) {
  const message = page.log.lastOwn();
  if (message) edit(page, message);
}

export async function remove(page, message) {
  const sure = await confirmDialog("Delete Message", "Are you sure you want to delete this message?", "Delete");
  if (sure) await page.attempt(api.remove(message.id, page.viewer.id));
}

/** Hides an ephemeral message in this tab. */
export function dismiss(page, message) {
  page.dismissed.add(message.id);
  sessionStorage.setItem("dismissed", JSON.stringify([...page.dismissed]));
  page.log.layout();
}
