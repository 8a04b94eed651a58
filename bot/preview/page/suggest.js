// What typing means: mentions, channel links, slash commands. Pure functions over text and the world.

/** The `@` or `#` word that the caret stands in: {sign, query, from}, or null. */
export function wordAt(text, caret) {
  const match = /(?:^|[\s(>*_~|])([@#])([^\s@#]{0,32})$/.exec(text.slice(0, caret));
  return match && { sign: match[1], query: match[2].toLowerCase(), from: caret - match[2].length - 1 };
}

/** What an `@` word may become: the bot first, then people, then roles. */
export function mentionChoices(directory, query) {
  const isBot = (member) => Number(Boolean(member.user.bot));
  const members = [...directory.members.values()].sort((a, b) => isBot(b) - isBot(a));
  const people = members.map((member) => ({
    kind: "user",
    label: member.name,
    detail: member.user.username,
    member,
  }));
  const roles = [...directory.roles.values()]
    .filter((role) => role.name !== "@everyone" && !role.managed)
    .map((role) => ({ kind: "role", label: role.name, detail: "role" }));
  return [...people, ...roles].filter((choice) => matches(choice, query)).slice(0, 10);
}

export function channelChoices(directory, query) {
  return [...directory.channels.values()].filter((channel) => channel.guild_id).map((channel) => ({
    kind: "channel",
    label: channel.name,
    detail: "",
  })).filter((choice) => matches(choice, query)).slice(0, 10);
}

function matches(choice, query) {
  return choice.label.toLowerCase().includes(query) || (choice.detail ?? "").toLowerCase().startsWith(query);
}

/** Every slash command that can be called, subcommands as "group sub name". */
export function flattenCommands(commands) {
  const slash = commands.filter((command) => (command.type ?? 1) === 1);
  return slash.flatMap((command) => expand(command, command.name)).sort((a, b) => a.name.localeCompare(b.name));
}

function expand(command, name) {
  const nested = (command.options ?? []).filter((option) => option.type === 1 || option.type === 2);
  if (nested.length) return nested.flatMap((option) => expand(option, `${name} ${option.name}`));
  return [{ name, description: command.description ?? "", options: command.options ?? [] }];
}

export function commandChoices(commands, text) {
  const query = text.slice(1).toLowerCase();
  const starts = commands.filter((command) => command.name.startsWith(query));
  const contains = commands.filter((command) => !command.name.startsWith(query) && command.name.includes(query));
  return [...starts, ...contains];
}

/**
 * "/model name:gpt" as {command, options}; null when no command is meant. A value goes on to the next
 * `option:`; text without a name fills the only or the first required option.
 */
export function parseCommandLine(text, commands) {
  const command = commands
    .filter((one) => text === `/${one.name}` || text.startsWith(`/${one.name} `))
    .sort((a, b) => b.name.length - a.name.length)[0];
  if (!command) return null;
  const rest = text.slice(command.name.length + 1).trim();
  const names = command.options.map((option) => option.name.replace(/[^\w-]/g, "\\$&"));
  const marks = names.length ? [...rest.matchAll(new RegExp(`(?:^|\\s)(${names.join("|")}):\\s*`, "g"))] : [];
  const options = {};
  const lead = rest.slice(0, marks[0]?.index ?? rest.length).trim();
  if (lead) {
    const only = command.options.length === 1 ? command.options[0] : null;
    const target = command.options.find((option) => option.required) ?? only;
    if (!target) return null;
    options[target.name] = lead;
  }
  marks.forEach((mark, index) => {
    options[mark[1]] = rest.slice(mark.index + mark[0].length, marks[index + 1]?.index ?? rest.length).trim();
  });
  return { command, options };
}

export function missingOptions(command, options) {
  return command.options.filter((option) => option.required && !(option.name in options));
}

/** Text values as the types that the options ask for; throws a RangeError whose message says which is wrong. */
export function typedOptions(command, options, directory) {
  const typed = {};
  for (const option of command.options) {
    const value = options[option.name];
    if (value === undefined || value === "") continue;
    typed[option.name] = typedValue(option, String(value), directory);
  }
  return typed;
}

// The numbers are Discord's option types: 4 integer, 5 boolean, 6 user, 7 channel, 8 role, 9 mentionable, 10 number.
function typedValue(option, value, directory) {
  const choice = (option.choices ?? []).find((one) => one.name === value || String(one.value) === value);
  if (choice) return choice.value;
  switch (option.type) {
    case 4: case 10: {
      const number = Number(value);
      const whole = option.type === 4;
      if (Number.isNaN(number) || (whole && !Number.isInteger(number))) {
        throw new RangeError(`${option.name} takes a ${whole ? "whole " : ""}number.`);
      }
      return number;
    }
    case 5: return /^(?:true|yes|1|on)$/i.test(value);
    case 6: case 7: case 8: case 9: return idOf(option, value, directory);
    default: return value;
  }
}

function idOf(option, value, directory) {
  const bare = value.replace(/^<?[@#]&?!?/, "").replace(/>$/, "");
  if (/^\d{15,20}$/.test(bare)) return bare;
  const same = (...names) => names.some((name) => name?.toLowerCase() === bare.toLowerCase());
  const member = [...directory.members.values()].find((one) => same(one.name, one.user.username));
  const role = [...directory.roles.values()].find((one) => same(one.name));
  const channel = [...directory.channels.values()].find((one) => same(one.name));
  const found = {
    6: member?.user.id,
    7: channel?.id,
    8: role?.id,
    9: member?.user.id ?? role?.id,
  }[option.type];
  if (!found) throw new RangeError(`${option.name}: nothing here is called ${value}.`);
  return String(found);
}

/** What can be mentioned, in lower case, and how it goes over the wire. A member wins over a role of the same name. */
function mentionTargets(directory) {
  const targets = new Map();
  const add = (name, wire) => targets.set(name.toLowerCase(), wire);
  for (const channel of directory.channels.values()) if (channel.guild_id) add(`#${channel.name}`, `<#${channel.id}>`);
  for (const role of directory.roles.values()) if (role.name !== "@everyone") add(`@${role.name}`, `<@&${role.id}>`);
  for (const { name, user } of directory.members.values()) {
    add(`@${user.username}`, `<@${user.id}>`);
    add(`@${name}`, `<@${user.id}>`);
  }
  return targets;
}

/** Every `@Name`, `@Role` and `#channel` in a text, outside code: [{from, to, wire}]. */
export function mentionsIn(text, directory) {
  const targets = mentionTargets(directory);
  const names = [...targets.keys()].filter((name) => name.length > 1).sort((a, b) => b.length - a.length);
  const inWord = (at) => /[\p{L}\p{N}_]/u.test(text[at] ?? " ");
  const found = [];
  for (const code of text.matchAll(/(```[\s\S]*?```|`[^`\n]*`)|(?<![\p{L}\p{N}_<])[@#]/gu)) {
    if (code[1]) continue;
    const lower = text.slice(code.index, code.index + 100).toLowerCase();
    const name = names.find((one) => lower.startsWith(one) && !inWord(code.index + one.length));
    if (name) found.push({ from: code.index, to: code.index + name.length, wire: targets.get(name) });
  }
  return found;
}

/** The text as Discord sends it, with ids in place of names. */
export function toWire(text, directory) {
  let out = "";
  let at = 0;
  for (const mention of mentionsIn(text, directory)) {
    out += text.slice(at, mention.from) + mention.wire;
    at = mention.to;
  }
  return out + text.slice(at);
}
