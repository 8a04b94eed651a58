// Buttons, select menus and the layout components (v2) of a message.

import { click } from "./actions.js";
import { el, icon } from "./dom.js";
import { hexColor, localPath } from "./format.js";
import { attachmentNode } from "./embeds.js";
import { picture, richText } from "./richtext.js";
import { selectMenu, selectOptions } from "./select.js";

const BUTTON_STYLES = { 1: "primary", 2: "secondary", 3: "success", 4: "danger", 5: "link", 6: "premium" };

/** The nodes of a message's components; a press or a pick is an action of the page. An unknown type draws nothing. */
export function componentNodes(message, page) {
  return (message.components ?? []).map((component) => draw(component, { message, page })).filter(Boolean);
}

// The numbers are Discord's component types.
// Source: https://discord.com/developers/docs/components/reference#component-object-component-types
function draw(component, context) {
  const inner = (children) => (children ?? []).map((child) => draw(child, context)).filter(Boolean);
  switch (component.type) {
    case 1: return el("div", { class: "action-row" }, inner(component.components));
    case 2: return button(component, context);
    case 3: case 5: case 6: case 7: case 8: return select(component, context);
    case 9: return el("div", { class: "section" }, [
      el("div", { class: "section-text" }, inner(component.components)),
      component.accessory && draw(component.accessory, context),
    ]);
    case 10: return el(
      "div",
      { class: "text-display rich" },
      richText(component.content, context.page.directory),
    );
    case 11: return media(component.media, component, "embed-thumbnail", context);
    case 12: return el(
      "div",
      { class: "gallery" },
      (component.items ?? []).map((item) => media(item.media, item, "gallery-image", context)),
    );
    case 13: return file(component, context);
    case 14: return el("div", {
      class: `separator${component.divider === false ? " no-line" : ""}${component.spacing === 2 ? " large" : ""}`,
      role: "separator",
    });
    case 17: return container(component, inner);
    default: return null;
  }
}

function container(component, inner) {
  const accent = component.accent_color ?? null;
  const color = accent === null ? null : (hexColor(accent) ?? "#000000");
  return el(
    "div",
    { class: "container", style: color ? { borderLeftColor: color } : {} },
    inner(component.components),
  );
}

function uploaded(address, message) {
  const name = /^attachment:\/\/(.+)$/.exec(address ?? "")?.[1];
  return name ? message.attachments?.find((attachment) => attachment.filename === name) : null;
}

function media(source, { description }, className, { message }) {
  return picture(uploaded(source?.url, message)?.url ?? source?.url, {
    alt: description ?? "Image",
    className,
  });
}

function file(component, { message }) {
  const found = uploaded(component.file?.url, message);
  const address = found?.url ?? component.file?.url ?? "";
  return attachmentNode(found ?? {
    filename: component.name ?? decodeURIComponent((localPath(address) ?? "file").split("/").pop()),
    size: component.size ?? 0,
    url: address,
  });
}

function emojiNode(emoji) {
  return emoji?.name ? el("span", {
    class: "button-emoji",
    "aria-hidden": "true",
    text: emoji.id ? `:${emoji.name}:` : emoji.name,
  }) : null;
}

function button(component, { message, page }) {
  const style = BUTTON_STYLES[component.style] ?? "secondary";
  const name = component.label || component.emoji?.name || "Button";
  const content = [emojiNode(component.emoji), component.label && el("span", { text: component.label })];
  if (component.style === 5) {
    const href = /^(?:https?|discord):/.test(component.url ?? "") && !component.disabled ? component.url : undefined;
    return el(
      "a",
      {
        class: "button button-link",
        href,
        target: "_blank",
        rel: "noopener noreferrer",
        "aria-label": name,
        "aria-disabled": component.disabled ? "true" : undefined,
      },
      [...content, icon("external", 16)],
    );
  }
  const node = el(
    "button",
    {
      type: "button",
      class: `button button-${style}`,
      "aria-label": name,
      disabled: Boolean(component.disabled),
      "data-custom-id": component.custom_id,
    },
    content,
  );
  node.addEventListener("click", () => void click(page, message, component.custom_id, node));
  return node;
}

function select(component, { message, page }) {
  const node = selectMenu({
    placeholder: component.placeholder || "Make a selection",
    options: selectOptions(component, page.directory),
    min: component.min_values ?? 1,
    max: component.max_values ?? 1,
    disabled: Boolean(component.disabled),
    customId: component.custom_id,
    onChange: (values) => void click(page, message, component.custom_id, node, values),
  });
  return node;
}
