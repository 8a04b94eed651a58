// Embeds and attachments of a message.

import { el, icon } from "./dom.js";
import { fileSize, hexColor, localPath, messageTime } from "./format.js";
import { highlight, languageOf } from "./highlight.js";
import { inlineText, picture, richText } from "./richtext.js";

const TEXT_FILE = /\.(?:txt|md|log|jsonl?|csv|ya?ml|toml|ini|py|m?js|tsx?|css|html|xml|sh|sql|diff|patch|rs|go|c|h|java)$/i;
const PICTURES = /^image\/(?:png|jpe?g|gif|webp|avif)\b/; // an SVG may hold a script: it is a file to download
const PREVIEW_BYTES = 100_000;
const PREVIEW_LINES = 6;

/** One embed as Discord lays it out. */
export function embedNode(embed, directory) {
  const color = hexColor(embed.color);
  const main = el("div", { class: "embed-main" }, [
    embed.author?.name && el("div", { class: "embed-author" }, [
      embed.author.icon_url && localPath(embed.author.icon_url) && picture(embed.author.icon_url, {
        className: "embed-icon",
      }),
      maybeLink(embed.author.url, [embed.author.name]),
    ]),
    embed.title && el("div", { class: "embed-title" }, [
      maybeLink(embed.url, inlineText(embed.title, directory)),
    ]),
    embed.description && el(
      "div",
      { class: "embed-description rich" },
      richText(embed.description, directory),
    ),
    embed.fields?.length && fieldGrid(embed.fields, directory),
  ]);
  return el("article", {
    class: "embed",
    style: color ? { borderLeftColor: color } : {},
    "aria-label": embed.title ? `Embed: ${embed.title}` : "Embed",
  }, [
    main,
    embed.thumbnail?.url && picture(embed.thumbnail.url, { className: "embed-thumbnail", alt: "Thumbnail" }),
    embed.image?.url && picture(embed.image.url, { className: "embed-image", alt: "Image" }),
    (embed.footer?.text || embed.timestamp) && footer(embed),
  ]);
}

function maybeLink(url, children) {
  return /^https?:\/\//.test(url ?? "") ? el(
    "a",
    { href: url, target: "_blank", rel: "noopener noreferrer" },
    children,
  ) : el("span", {}, children);
}

function footer(embed) {
  const parts = [
    embed.footer?.text,
    embed.timestamp && messageTime(new Date(embed.timestamp)),
  ].filter(Boolean);
  const path = localPath(embed.footer?.icon_url);
  return el("div", { class: "embed-footer" }, [
    path && el("img", { class: "embed-icon", src: path, alt: "" }),
    parts.join(" • "),
  ]);
}

/** Discord's grid: up to three inline fields share a row, each row as wide as the embed. */
function fieldGrid(fields, directory) {
  const rows = [];
  for (const field of fields) {
    const row = rows[rows.length - 1];
    if (field.inline && row?.inline && row.fields.length < 3) row.fields.push(field);
    else rows.push({ inline: field.inline, fields: [field] });
  }
  return el("div", { class: "embed-fields" }, rows.flatMap((row) => row.fields.map((field) => el("div", {
    class: "embed-field",
    style: { gridColumn: `span ${12 / row.fields.length}` },
  }, [
    el("div", { class: "embed-field-name" }, inlineText(field.name, directory)),
    el("div", { class: "embed-field-value rich" }, richText(field.value, directory)),
  ]))));
}

const STICKERS = { wave: "👋", party: "🎉" };

/** A sticker. The preview keeps no pictures of them: one is drawn from its name. */
export function stickerNode({ name }) {
  const face = STICKERS[name.toLowerCase()] ?? name.slice(0, 2);
  return el("div", { class: "sticker", role: "img", "aria-label": `Sticker: ${name}`, title: name, text: face });
}

/** One attachment: a picture inline, anything else as a card; small text files with a preview. */
export function attachmentNode(attachment) {
  const { filename, size = 0, content_type: type = "" } = attachment;
  const path = localPath(attachment.url ?? attachment.proxy_url);
  if (PICTURES.test(type) && path) {
    const image = el("img", { src: path, alt: attachment.description || filename, loading: "lazy" });
    return el("a", { class: "attachment-image", href: path, target: "_blank", "data-whole": true }, [image]);
  }
  const label = { class: "file-card", role: "group", "aria-label": filename, "data-whole": true };
  const card = el("div", label, [fileRow(filename, size, path)]);
  const isText = type.startsWith("text/") || type.includes("json") || TEXT_FILE.test(filename);
  if (isText && size <= PREVIEW_BYTES && path) void addPreview(card, path, filename);
  return card;
}

function fileRow(filename, size, path) {
  const save = { href: path, download: filename };
  const name = path
    ? el("a", { class: "file-name", text: filename, ...save })
    : el("span", { class: "file-name", text: filename });
  const download = { class: "icon-button", "aria-label": `Download ${filename}`, title: "Download", ...save };
  return el("div", { class: "file-row" }, [
    icon("file", 28),
    el("div", { class: "file-text" }, [name, el("div", { class: "file-size", text: fileSize(size) })]),
    path && el("a", download, [icon("download")]),
  ]);
}

async function addPreview(card, path, filename) {
  let text;
  try {
    const answer = await fetch(path);
    if (!answer.ok) return;
    text = await answer.text();
  } catch {
    return; // the card with its download stays; a preview is only a convenience
  }
  const lines = text.split("\n");
  const code = el("code");
  const show = (part) => code.replaceChildren(...coloured(part, filename.split(".").pop()));
  const shorten = () => show(lines.slice(0, PREVIEW_LINES).join("\n"));
  shorten();
  card.prepend(el("pre", { class: "file-preview", tabindex: 0, "aria-label": `Contents of ${filename}` }, [code]));
  if (lines.length > PREVIEW_LINES) card.children[0].after(expander(lines.length, () => show(text), shorten));
}

function coloured(text, extension) {
  if (!languageOf(extension)) return [text];
  return highlight(text, extension).map(([kind, piece]) => el("span", { class: kind && `hl-${kind}`, text: piece }));
}

function expander(count, expand, collapse) {
  const more = `Expand (${count} lines)`;
  const toggle = el("button", { type: "button", class: "file-expand", "aria-expanded": "false", text: more });
  toggle.addEventListener("click", () => {
    const open = toggle.getAttribute("aria-expanded") !== "true";
    toggle.setAttribute("aria-expanded", String(open));
    toggle.textContent = open ? "Collapse" : more;
    (open ? expand : collapse)();
  });
  return toggle;
}
