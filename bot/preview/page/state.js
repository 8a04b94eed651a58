// What the page knows: the world, who is looking, which channel, and its messages. No DOM here.

import { compareIds } from "./format.js";

const TEXT = new Set([0, 5]);
const MODERATES = (1n << 3n) | (1n << 13n);
const THREADS = new Set([10, 11, 12]);

/** Names, roles and colours by id: everything that rendering looks up. */
export class Directory {
  /** `directs`: [channel id, person's id] of direct messages that the world does not list. */
  constructor(world, directs = []) {
    this.bot = userOf(world.bot ?? {});
    this.guilds = world.guilds ?? [];
    this.commands = world.commands ?? [];
    this.channels = new Map();
    this.roles = new Map();
    this.members = new Map();
    for (const guild of this.guilds) {
      for (const channel of guild.channels ?? []) this.channels.set(String(channel.id), {
        guild_id: guild.id,
        ...channel,
      });
      for (const role of guild.roles ?? []) this.roles.set(String(role.id), role);
      for (const member of guild.members ?? []) this.addMember(member);
    }
    for (const channel of world.channels ?? []) this.channels.set(String(channel.id), channel);
    for (const [id, person] of directs) this.addDirect(id, person);
    if (this.bot.id && !this.members.has(this.bot.id)) this.members.set(this.bot.id, {
      user: { ...this.bot, bot: true },
      name: nameOf(this.bot),
      roles: [],
    });
  }

  addDirect(id, person) {
    this.channels.set(id, { id, type: 1, recipients: [{ id: person }] });
  }

  addMember(member) {
    const user = userOf(member);
    this.members.set(user.id, {
      user,
      name: member.nick || nameOf(user),
      roles: (member.roles ?? []).map(String),
    });
  }

  /** The people (no bots) of the first guild, in the order in which the world lists them. */
  get people() {
    return [...this.members.values()].filter((member) => !member.user.bot);
  }

  memberName(id) {
    return this.members.get(id)?.name ?? "unknown-user";
  }

  /** The name an author is shown under here: a webhook's own, else the member's. */
  authorName(author) {
    return this.members.get(author.id)?.name ?? nameOf(author);
  }

  /** The colour of the highest role that has one, as a number; 0 when there is none. */
  colorOf(userId) {
    return this.topRole(userId, (role) => role.color)?.color ?? 0;
  }

  topRole(userId, wanted) {
    const held = (this.members.get(userId)?.roles ?? []).map((id) => this.roles.get(id));
    const roles = held.filter((role) => role && wanted(role));
    return roles.sort((a, b) => (b.position ?? 0) - (a.position ?? 0))[0] ?? null;
  }

  /** Whether somebody may delete what others wrote: the owner, or a role with Administrator or Manage Messages. */
  moderates(userId) {
    if (this.guilds.some((guild) => guild.owner_id === userId)) return true;
    const everyone = this.guilds.map((guild) => guild.id);
    const held = [...everyone, ...(this.members.get(userId)?.roles ?? [])].map((id) => this.roles.get(id));
    return held.some((role) => BigInt(role?.permissions ?? 0) & MODERATES);
  }

  /** The channels of a guild that hold text, in Discord's order; threads follow their parent. */
  textChannels(guild) {
    const all = [...this.channels.values()].filter((channel) => channel.guild_id === guild.id);
    const order = (a, b) => (a.position ?? 0) - (b.position ?? 0) || compareIds(String(a.id), String(b.id));
    return all.filter((channel) => TEXT.has(channel.type ?? 0)).sort(order).flatMap((channel) => [
      channel,
      ...all.filter((thread) => isThread(thread) && thread.parent_id === channel.id).sort(order),
    ]);
  }

  /** The direct-message channel of a person with the bot, if one was opened yet. */
  directChannel(userId) {
    const direct = (channel) => channel.type === 1 && recipientsOf(channel).includes(userId);
    return [...this.channels.values()].find(direct) ?? null;
  }
}

export const isThread = (channel) => THREADS.has(channel.type);

function recipientsOf(channel) {
  return (channel.recipients ?? []).map((recipient) => String(recipient.id));
}

function userOf(member) {
  const user = member.user ?? member;
  return { ...user, id: String(user.id ?? ""), username: user.username ?? user.name ?? "" };
}

export function nameOf(user) {
  return user.global_name || user.username || user.name || "someone";
}

const emojiKey = (emoji) => (emoji.id ? `${emoji.name}:${emoji.id}` : emoji.name);

/**
 * One channel's messages in order. Applying an event twice, or one that is older than a full read, leaves the
 * same list in the end, because the last word on a message is always sent last. A full read says in `me` what the
 * viewer reacted with; in events `me` is the bot's, so the viewer's own are kept here.
 */
export class MessageList {
  constructor(messages = []) {
    this.byId = new Map(messages.map((message) => [String(message.id), message]));
    this.mine = new Map(messages.map((message) => [
      String(message.id),
      new Set((message.reactions ?? []).filter((one) => one.me).map((one) => emojiKey(one.emoji))),
    ]));
  }

  get ordered() {
    return [...this.byId.values()].sort((a, b) => compareIds(String(a.id), String(b.id)));
  }

  put(message) {
    const mine = this.mine.get(String(message.id)) ?? new Set();
    const reactions = message.reactions?.map((one) => ({ ...one, me: mine.has(emojiKey(one.emoji)) }));
    this.byId.set(String(message.id), reactions ? { ...message, reactions } : message);
  }

  delete(id) {
    this.byId.delete(id);
  }

  /** Adds or removes one person's reaction. Gives the message, or null when it is not here. */
  react(event, viewerId, added) {
    const message = this.byId.get(event.message_id);
    if (!message) return null;
    const key = emojiKey(event.emoji);
    if (event.user_id === viewerId) this.remember(event.message_id, key, added);
    const known = message.reactions ?? [];
    const reactions = known.some((one) => emojiKey(one.emoji) === key) ? known : [
      ...known,
      { emoji: event.emoji, count: 0, me: false },
    ];
    const changed = reactions.map((one) => (emojiKey(one.emoji) === key ? {
      ...one,
      count: one.count + (added ? 1 : -1),
    } : one));
    this.put({ ...message, reactions: changed.filter((one) => one.count > 0) });
    return this.byId.get(event.message_id);
  }

  remember(id, key, added) {
    const mine = this.mine.get(id) ?? new Set();
    if (added) mine.add(key);
    else mine.delete(key);
    this.mine.set(id, mine);
  }
}
