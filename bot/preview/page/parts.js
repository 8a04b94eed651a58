// The parts of a message as nodes: what it answers, who wrote it, its text, its reactions, the notes below it.

import { dismiss, react } from "./actions.js";
import { avatar } from "./avatar.js";
import { el, icon } from "./dom.js";
import { clockTime, fullTime, hexColor, messageTime, snowflakeMs } from "./format.js";
import { inlineText, richText } from "./richtext.js";
import { nameOf } from "./state.js";

const EPHEMERAL = 64;
const LOADING = 128;
const TYPE_REPLY = 19;
const TYPE_COMMAND = 20;
const INTERACTION_COMMAND = 2;
const PLAIN_TYPES = new Set([0, TYPE_REPLY, TYPE_COMMAND, 23]);
const FLOWING = new Set(["UL", "OL", "LI", "BLOCKQUOTE", "H3", "H4", "H5", "SMALL"]);
const SNIPPET = 160;
const ONLY_EMOJI = /^(?:(?:\p{Extended_Pictographic}[\u{1f3fb}-\u{1f3ff}\u200d\ufe0f]*)|\s){1,40}$/u;

const SYSTEM_TEXT = {
  6: () => "pinned a message to this channel.",
  7: () => "joined the server.",
  18: (message) => `started a thread: ${message.content}`,
};

export const sentAt = (message) => new Date(message.timestamp ?? snowflakeMs(message.id));
export const isEphemeral = (message) => Boolean((message.flags ?? 0) & EPHEMERAL);
export const isJumbo = (message) => Boolean(message.content) && ONLY_EMOJI.test(message.content);

/** The slash command that a message answers: {name, user}, or null. */
export function commandOf(message) {
  const metadata = message.interaction_metadata;
  const data = message.interaction ?? (metadata?.type === INTERACTION_COMMAND ? metadata : null);
  return data?.name && data.user ? data : null;
}

/** Whether a message can stand under the name of the one before: plain, no bar above it, seen by the same people. */
export function goesOn(message, previous, withinMs) {
  if (previous?.author.id !== message.author.id || isEphemeral(message) !== isEphemeral(previous)) return false;
  if (message.type === TYPE_REPLY || commandOf(message) || !PLAIN_TYPES.has(message.type ?? 0)) return false;
  return sentAt(message) - sentAt(previous) < withinMs;
}

export function mentions(message, viewer, directory) {
  const roles = directory.members.get(viewer.id)?.roles ?? [];
  return Boolean(
    message.mention_everyone ||
    (message.mentions ?? []).some((user) => user.id === viewer.id) ||
    (message.mention_roles ?? []).some((id) => roles.includes(String(id))),
  );
}

/** The line above a message: the reply's original, or the command that was used. */
export function barNodes(message, page) {
  if (message.type === TYPE_REPLY) return [replyBar(message.referenced_message, page)];
  const used = commandOf(message);
  if (!used) return [];
  const what = el("span", { class: "mention", text: `/${used.name}` });
  return [el("div", { class: "bar command-bar" }, [...person(used.user, page.directory, ""), " used ", what])];
}

function replyBar(original, page) {
  if (!original) {
    const gone = el("em", { text: "Original message was deleted" });
    return el("div", { class: "bar reply-bar" }, [icon("reply", 14), gone]);
  }
  const { directory, log } = page;
  const text = (original.content ?? "").replace(/\s+/g, " ").slice(0, SNIPPET);
  const jump = { type: "button", class: "snippet", "aria-label": "Jump to the original message" };
  const snippet = text ? inlineText(text, directory) : [el("em", { text: "Click to see attachment" })];
  return el("div", { class: "bar reply-bar" }, [
    ...person(original.author, directory, "@"),
    el("button", { ...jump, on: { click: () => log.jumpTo(original.id) } }, snippet),
  ]);
}

function person(user, directory, sign) {
  const name = directory.authorName(user);
  const style = colorStyle(directory, user.id);
  return [avatar(user, 16, name), el("span", { class: "bar-name", text: sign + name, style })];
}

function colorStyle(directory, userId) {
  const color = hexColor(directory.colorOf(userId));
  return color ? { color } : {};
}

/** A stamp with the whole date as its tooltip. */
function timeNode(when, text, attributes) {
  return el("time", { datetime: when.toISOString(), title: fullTime(when), text, ...attributes });
}

export function headNodes(message, { directory }) {
  const { author } = message;
  const when = sentAt(message);
  return [
    el("span", { class: "author", text: directory.authorName(author), style: colorStyle(directory, author.id) }),
    (author.bot || message.webhook_id) && el("span", { class: "app-tag", text: "APP" }),
    timeNode(when, messageTime(when), { class: "time" }),
  ];
}

/** Left of the text: the avatar, or the time (on hover) in a message that goes on. */
export function sideNodes(message, { directory }, grouped) {
  const when = sentAt(message);
  if (grouped) return [timeNode(when, clockTime(when), { class: "side-time", "aria-hidden": "true" })];
  return [avatar(message.author, 40, directory.authorName(message.author))];
}

export function contentNodes(message, { directory }) {
  if (!PLAIN_TYPES.has(message.type ?? 0)) {
    return [el("span", { class: "system-text", text: SYSTEM_TEXT[message.type]?.(message) ?? "" })];
  }
  if ((message.flags ?? 0) & LOADING && !message.content) {
    return [el("span", { class: "thinking" }, [dots(), `${nameOf(message.author)} is thinking…`])];
  }
  const nodes = richText(message.content, directory);
  if (message.edited_timestamp && message.content) {
    const mark = timeNode(new Date(message.edited_timestamp), " (edited)", { class: "edited" });
    const block = lastBlock(nodes);
    if (block) block.append(mark);
    else nodes.push(mark);
  }
  return nodes;
}

/** The innermost list item, quote or heading that the text ends in: what follows it would begin a line of its own. */
function lastBlock(nodes) {
  let found = null;
  for (let last = nodes.at(-1); FLOWING.has(last?.nodeName); last = last.lastChild) found = last;
  return found;
}

export function reactionNodes(message, page) {
  return (message.reactions ?? []).map(({ emoji, count, me }) => {
    const name = emoji.id ? `:${emoji.name}:` : emoji.name;
    const attributes = {
      type: "button",
      class: `reaction${me ? " mine" : ""}`,
      "aria-pressed": String(Boolean(me)),
      "aria-label": `${name}, ${count} reaction${count === 1 ? "" : "s"}`,
    };
    const toggle = () => void react(page, page.log.list.byId.get(message.id), emoji);
    const inside = [el("span", { class: "reaction-emoji", text: name }), el("span", { text: count })];
    return el("button", { ...attributes, on: { click: toggle } }, inside);
  });
}

/** Below a message: its thread, why an interaction failed, and that nobody else sees it. */
export function noticeNodes(message, page, failure) {
  return [
    message.thread && threadLink(message.thread),
    failure && el("div", { class: "failure", role: "alert", text: failure }),
    isEphemeral(message) && ephemeralNote(message, page),
  ];
}

function threadLink(thread) {
  const inside = [icon("thread", 16), el("strong", { text: thread.name }), "See thread"];
  return el("a", { class: "thread-link", href: `#/channels/${thread.id}` }, inside);
}

function ephemeralNote(message, page) {
  const go = { click: () => dismiss(page, message) };
  return el("div", { class: "ephemeral-note" }, [
    icon("eye", 16),
    "Only you can see this • ",
    el("button", { type: "button", class: "text-button", text: "Dismiss message", on: go }),
  ]);
}

export function dots() {
  return el("span", { class: "dots", "aria-hidden": "true" }, [el("i"), el("i"), el("i")]);
}
