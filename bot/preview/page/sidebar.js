// The left side (servers, channels, who is looking) and the member list on the right.

import { avatar } from "./avatar.js";
import { el, icon, patchChildren } from "./dom.js";
import { hexColor } from "./format.js";
import { isThread } from "./state.js";

/** `page`: directory, viewer, channel, unread (Map of channel id to {count, mentions}), botOnline. */
export function drawSidebar(root, page, onViewer) {
  const { directory } = page;
  const groups = directory.guilds.map((guild) => el("section", { class: "channel-group" }, [
    el("h3", { text: directory.guilds.length > 1 ? guild.name : "Text channels" }),
    el(
      "ul",
      {},
      directory.textChannels(guild).map((channel) => el("li", { class: isThread(channel) ? "thread" : "" }, [
        channelLink(channel.id, channel.name, icon(isThread(channel) ? "thread" : "hash"), page),
      ])),
    ),
  ]));
  const direct = el("section", { class: "channel-group" }, [
    el("h3", { text: "Direct messages" }),
    el("ul", {}, [
      el("li", {}, [
        channelLink(
          page.directId,
          directory.memberName(directory.bot.id),
          presence(avatar({ ...directory.bot, bot: true }, 24), page.botOnline),
          page,
        ),
      ]),
    ]),
  ]);
  if (!root.firstChild) build(root, onViewer);
  const at = (selector) => root.querySelector(selector);
  at(".guild-head h1").textContent = directory.guilds[0]?.name ?? "Preview";
  patchChildren(
    at(".rail"),
    directory.guilds.map((guild) => el("div", {
      class: "guild-icon",
      text: initialsOf(guild.name),
      title: guild.name,
    })),
  );
  patchChildren(at(".channels"), [...groups, direct]);
  patchChildren(at(".viewer-face"), [
    presence(avatar(page.viewer, 32, directory.memberName(page.viewer.id)), true),
  ]);
  fillViewers(at(".viewer-select"), page);
}

function build(root, onViewer) {
  const select = el("select", {
    class: "viewer-select",
    "aria-label": "Viewing as",
    on: { change: () => onViewer(select.value) },
  });
  root.append(
    el("div", { class: "rail", "aria-hidden": "true" }),
    el("div", { class: "side-column" }, [
      el("header", { class: "guild-head" }, [el("h1")]),
      el("nav", { class: "channels", "aria-label": "Channels" }),
      el("div", { class: "viewer-panel" }, [
        el("span", { class: "viewer-face" }),
        el("div", { class: "viewer-text" }, [
          select,
          el("small", { "aria-hidden": "true", text: "Viewing as" }),
        ]),
      ]),
    ]),
  );
}

const initialsOf = (name) => (name ?? "").split(/\s+/).map((word) => [...word][0] ?? "").join("").slice(0, 3);

function channelLink(id, name, mark, page) {
  const unread = page.unread.get(id);
  const current = id === page.channel;
  return el("a", {
    href: `#/channels/${encodeURIComponent(id)}`,
    class: ["channel", unread && "unread"].filter(Boolean).join(" "),
    "aria-current": current ? "page" : undefined,
    "aria-label": name,
    "aria-description": unread ? "unread" : undefined,
  }, [
    mark, el("span", { class: "channel-name", text: name }),
    unread?.mentions > 0 && el("span", { class: "badge", "aria-hidden": "true", text: unread.mentions }),
  ]);
}

function presence(node, online) {
  node.append(el("i", { class: `presence ${online ? "online" : "offline"}` }));
  return node;
}

function fillViewers(select, page) {
  const options = page.directory.people.map((member) => ({ value: member.user.id, text: member.name }));
  if (JSON.stringify(options) !== select.dataset.options) {
    select.dataset.options = JSON.stringify(options);
    select.replaceChildren(...options.map((option) => el("option", option)));
  }
  select.value = page.viewer.id;
}

/** The members by hoisted role, then the rest; the bot is offline while it has no gateway connection. */
export function drawMembers(root, page) {
  const { directory } = page;
  const groups = new Map();
  for (const member of [...directory.members.values()].sort((a, b) => a.name.localeCompare(b.name))) {
    const online = !member.user.bot || page.botOnline;
    const hoisted = directory.topRole(member.user.id, (role) => role.hoist);
    const title = online ? (hoisted?.name ?? "Online") : "Offline";
    groups.set(title, [...(groups.get(title) ?? []), { member, online }]);
  }
  const order = [...groups].sort(([a], [b]) => rank(a) - rank(b));
  patchChildren(root, order.map(([title, members]) => el("section", {}, [
    el("h3", { text: `${title} — ${members.length}` }),
    el("ul", {}, members.map(({ member, online }) => memberRow(member, online, directory))),
  ])));
}

const rank = (title) => ({ Online: 1, Offline: 2 })[title] ?? 0;

function memberRow(member, online, directory) {
  const color = hexColor(directory.colorOf(member.user.id));
  return el("li", { class: `member${online ? "" : " is-offline"}` }, [
    presence(avatar(member.user, 32, member.name), online),
    el("span", { class: "member-name", text: member.name, style: color ? { color } : {} }),
    member.user.bot && el("span", { class: "app-tag", text: "APP" }),
  ]);
}
