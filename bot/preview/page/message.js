// One message. Its node lives as long as the message is shown; an update touches only the parts that changed.

import { dismiss, edit, react, remove } from "./actions.js";
import { componentNodes } from "./components.js";
import { el, iconButton, patchChildren } from "./dom.js";
import { attachmentNode, embedNode, stickerNode } from "./embeds.js";
import {
  barNodes, commandOf, contentNodes, headNodes, isEphemeral, isJumbo, mentions, noticeNodes, reactionNodes, sideNodes,
} from "./parts.js";

const PARTS = ["content", "attachments", "stickers", "embeds", "components", "reactions", "notice"];
const QUICK_EMOJI = ["👍", "👎", "❤️", "😂", "🎉", "😮", "👀", "✅", "❌", "🚀", "🙏", "🔥"];

export class MessageView {
  /** `page` gives the directory, the viewer, the log and the composer. */
  constructor(message, page) {
    this.page = page;
    this.keys = {};
    this.editor = null;
    this.tools = null;
    const part = (name) => el("div", { class: name });
    this.parts = Object.fromEntries(["bars", "side", "head", ...PARTS].map((name) => [name, part(name)]));
    this.parts.head.id = `head-${message.id}`;
    this.parts.content.classList.add("rich");
    const body = el("div", { class: "body" }, [this.parts.head, ...PARTS.map((name) => this.parts[name])]);
    const attributes = { tabindex: -1, dataset: { id: message.id }, "aria-labelledby": this.parts.head.id };
    this.node = el("article", attributes, [this.parts.bars, this.parts.side, body]);
    for (const type of ["pointermove", "focusin"]) this.node.addEventListener(type, () => this.showTools());
  }

  /** Shows `message`; `grouped` means that it goes on under the name above; `failure` is a text below it. */
  update(message, grouped, failure) {
    const { page } = this;
    this.message = message;
    this.grouped = grouped;
    this.failure = failure;
    const { author, referenced_message: original, attachments = [], embeds = [], components = [] } = message;
    this.node.className = this.classes().join(" ");
    const above = [original?.id, original?.content, message.type, commandOf(message)];
    this.part("bars", above, () => barNodes(message, page));
    this.part("head", [author, message.timestamp], () => headNodes(message, page));
    this.part("side", [author, grouped], () => sideNodes(message, page, grouped));
    if (!this.editor) {
      const text = [message.content, message.edited_timestamp, message.type, message.flags];
      this.part("content", text, () => contentNodes(message, page));
      this.parts.content.classList.toggle("jumbo", isJumbo(message));
    }
    this.part("attachments", attachments, () => attachments.map(attachmentNode));
    this.part("stickers", message.sticker_items, () => (message.sticker_items ?? []).map(stickerNode));
    this.part("embeds", embeds, () => embeds.map((embed) => embedNode(embed, page.directory)));
    this.part("components", components, () => componentNodes(message, page));
    this.part("reactions", message.reactions, () => reactionNodes(message, page));
    this.part("notice", [failure, message.flags, message.thread], () => noticeNodes(message, page, failure));
    if (this.tools && this.toolsFor !== page.viewer.id) this.dropTools();
  }

  classes() {
    const { message, page } = this;
    return [
      "message",
      this.grouped && "grouped",
      isEphemeral(message) && "is-ephemeral",
      mentions(message, page.viewer, page.directory) && "mentions-viewer",
    ].filter(Boolean);
  }

  /** Builds a part anew if the data that it shows has changed. */
  part(name, data, build) {
    const key = JSON.stringify(data) ?? "";
    if (this.keys[name] === key) return;
    this.keys[name] = key;
    patchChildren(this.parts[name], build().filter(Boolean));
  }

  /** Draws everything anew at the next update: the world's names or colours changed. */
  forget() {
    this.keys = {};
  }

  showTools() {
    if (this.tools || this.editor) return;
    const { page, message } = this;
    const mine = message.author.id === page.viewer.id;
    const ephemeral = isEphemeral(message);
    const mayDelete = mine || (!ephemeral && page.directory.moderates(page.viewer.id));
    const press = (action) => () => void action(page, this.message);
    const smile = (event) => this.toggleEmoji(event.currentTarget);
    const reply = () => page.composer.setReply(this.message);
    const dangerous = { class: "icon-button dangerous" };
    this.toolsFor = page.viewer.id;
    this.tools = el("div", { class: "tools", role: "toolbar", "aria-label": "Message actions" }, [
      !ephemeral && iconButton("smile", "Add reaction", smile, { "aria-expanded": "false" }),
      !ephemeral && iconButton("reply", "Reply", reply),
      mine && iconButton("pencil", "Edit", press(edit)),
      mayDelete && iconButton("trash", "Delete", press(remove), dangerous),
      ephemeral && iconButton("close", "Dismiss message", press(dismiss)),
    ]);
    this.node.append(this.tools);
  }

  dropTools() {
    this.tools?.remove();
    this.tools = null;
  }

  toggleEmoji(button) {
    const open = this.tools.querySelector(".quick-emoji");
    button.setAttribute("aria-expanded", String(!open));
    if (open) return open.remove();
    const pick = (emoji) => {
      this.dropTools();
      void react(this.page, this.message, { id: null, name: emoji });
    };
    const choice = (emoji) => {
      const attributes = { type: "button", "aria-label": `React with ${emoji}`, text: emoji };
      return el("button", { ...attributes, on: { click: () => pick(emoji) } });
    };
    const upward = button.getBoundingClientRect().bottom > window.innerHeight / 2 ? " upward" : "";
    const box = { class: `quick-emoji${upward}`, role: "group", "aria-label": "Reactions" };
    return this.tools.append(el("div", box, QUICK_EMOJI.map(choice)));
  }

  /** Turns the text into a box; `save(content)` on Enter, nothing on Escape. */
  startEditing(save) {
    const rows = Math.min(12, this.message.content.split("\n").length);
    const box = el("textarea", { class: "edit-box", "aria-label": "Edit message", rows });
    const hint = el("small", { class: "edit-hint", text: "escape to cancel • enter to save" });
    box.value = this.message.content;
    box.addEventListener("keydown", (event) => {
      if (event.key !== "Escape" && (event.key !== "Enter" || event.shiftKey || event.isComposing)) return;
      event.preventDefault();
      event.stopPropagation();
      this.stopEditing();
      if (event.key === "Enter") void save(box.value.trim());
      else this.page.composer.focus();
    });
    this.editor = box;
    this.dropTools();
    this.parts.content.replaceChildren(box, hint);
    box.focus();
    box.setSelectionRange(box.value.length, box.value.length);
  }

  stopEditing() {
    this.editor = null;
    delete this.keys.content;
    this.parts.content.replaceChildren();
    this.update(this.message, this.grouped, this.failure);
  }
}
