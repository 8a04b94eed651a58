// Markdown trees as DOM nodes. Every text of a message goes through here and ends as a text node.

import { el } from "./dom.js";
import { fullTime, hexColor, localPath, stamp } from "./format.js";
import { highlight } from "./highlight.js";
import { parse, parseInline } from "./markdown.js";

/** A full text with headings, lists, quotes and code. `directory` names what mentions point at. */
export function richText(text, directory) {
  return parse(text ?? "").map((block) => blockNode(block, directory));
}

/** One line's formatting only: field names, footers, titles. */
export function inlineText(text, directory) {
  return parseInline(text ?? "").map((node) => inlineNode(node, directory));
}

function blockNode(block, directory) {
  const inner = () => block.children.map((node) => inlineNode(node, directory));
  switch (block.type) {
    case "heading": return el(`h${block.level + 2}`, { class: `heading heading-${block.level}` }, inner());
    case "subtext": return el("small", { class: "subtext" }, inner());
    case "quote": return el("blockquote", {}, block.children.map((child) => blockNode(child, directory)));
    case "code": return codeBlock(block);
    case "list": return listNode(block, directory);
    default: return el("span", {}, inner());
  }
}

function listNode(list, directory) {
  const start = list.ordered && list.start !== 1 ? list.start : undefined;
  return el(
    list.ordered ? "ol" : "ul",
    { start },
    list.items.map((item) => el("li", {}, item.map((block) => blockNode(block, directory)))),
  );
}

function codeBlock(block) {
  const code = el(
    "code",
    {},
    highlight(block.text, block.language).map(([kind, text]) => (kind ? el("span", {
      class: kind.replace(/^(?!ansi)/, "hl-"),
      text,
    }) : text)),
  );
  return el("pre", { tabindex: 0, "aria-label": block.language ? `Code, ${block.language}` : "Code" }, [
    code,
  ]);
}

function inlineNode(node, directory) {
  const inner = () => node.children.map((child) => inlineNode(child, directory));
  switch (node.type) {
    case "bold": return el("strong", {}, inner());
    case "italic": return el("em", {}, inner());
    case "underline": return el("u", {}, inner());
    case "strike": return el("s", {}, inner());
    case "inlineCode": return el("code", { class: "inline-code", text: node.text });
    case "spoiler": return spoiler(inner());
    case "link": return el(
      "a",
      {
        href: node.href,
        target: "_blank",
        rel: "noopener noreferrer",
        title: node.masked ? node.href : undefined,
      },
      inner(),
    );
    case "user": return pill(`@${directory.memberName(node.id)}`, { "data-user": node.id });
    case "role": return rolePill(node.id, directory);
    case "channel": return channelPill(node.id, directory);
    case "everyone": return pill(`@${node.name}`);
    case "slash": return pill(`/${node.name}`);
    case "emoji": return el("span", { class: "emoji-name", title: `:${node.name}:`, text: `:${node.name}:` });
    case "time": return timeNode(node);
    default: return document.createTextNode(node.text);
  }
}

function pill(text, attributes = {}) {
  return el("span", { class: "mention", text, ...attributes });
}

function rolePill(id, directory) {
  const role = directory.roles.get(id);
  return el("span", {
    class: "mention",
    text: `@${role?.name ?? "unknown-role"}`,
    style: role?.color ? { color: hexColor(role.color) } : {},
  });
}

function channelPill(id, directory) {
  const channel = directory.channels.get(id);
  return channel ? el("a", {
    class: "mention",
    href: `#/channels/${id}`,
    text: `#${channel.name}`,
  }) : pill("#unknown");
}

function spoiler(children) {
  const reveal = (event) => {
    const node = event.currentTarget;
    const otherKey = event.type === "keydown" && event.key !== "Enter" && event.key !== " ";
    if (otherKey || node.classList.contains("revealed")) return;
    event.preventDefault();
    node.classList.add("revealed");
    node.removeAttribute("role");
    node.removeAttribute("aria-label");
  };
  return el(
    "span",
    {
      class: "spoiler",
      role: "button",
      tabindex: 0,
      "aria-label": "Spoiler",
      on: { click: reveal, keydown: reveal },
    },
    [el("span", {}, children)],
  );
}

function timeNode({ seconds, style }) {
  const date = new Date(seconds * 1000);
  if (Number.isNaN(date.getTime())) return document.createTextNode(`<t:${seconds}:${style}>`);
  return el("time", {
    class: "timestamp",
    datetime: date.toISOString(),
    title: fullTime(date),
    text: stamp(date, style),
    "data-relative": style === "R" ? seconds : undefined,
  });
}

/** Moves every relative time on the page forward; run once a second. */
export function tickTimes(root = document) {
  for (const node of root.querySelectorAll("time[data-relative]")) {
    const text = stamp(new Date(Number(node.dataset.relative) * 1000), "R");
    if (node.textContent !== text) node.textContent = text;
  }
}

/** A picture if this server serves it, else a link to where it lies: nothing is fetched from outside. */
export function picture(address, { alt = "", className = "picture" } = {}) {
  const path = localPath(address);
  if (path) return el("img", { class: className, src: path, alt, loading: "lazy" });
  return el("a", {
    class: "picture-link",
    href: /^https?:/.test(address ?? "") ? address : undefined,
    target: "_blank",
    rel: "noopener noreferrer",
    text: alt || address || "picture",
  });
}
