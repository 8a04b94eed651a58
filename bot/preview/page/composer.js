// The text box at the bottom: typing, mentions, commands, replies and files.

import { avatar } from "./avatar.js";
import { commandForm } from "./commandform.js";
import { editLast, runCommand, send } from "./actions.js";
import { el, iconButton } from "./dom.js";
import { Picker } from "./picker.js";
import {
  channelChoices, commandChoices, flattenCommands, mentionChoices, mentionsIn, missingOptions, parseCommandLine, toWire,
  typedOptions, wordAt,
} from "./suggest.js";
import { Tray } from "./tray.js";

const MAX_CHARACTERS = 2000;

export class Composer {
  /** `page` gives the directory, refreshCommands and toast. */
  constructor(page) {
    this.page = page;
    this.drafts = new Map();
    this.replyTo = null;
    this.box = el("textarea", {
      id: "composer",
      class: "box",
      rows: 1,
      "aria-autocomplete": "list",
      "aria-controls": "picker-list",
      autocomplete: "off",
      spellcheck: "true",
    });
    this.mirror = el("div", { class: "mirror", "aria-hidden": "true" });
    this.picker = new Picker(this.box);
    this.count = el("span", { class: "count", "aria-live": "polite" });
    this.tray = new Tray({ onChange: () => this.focus(), onTooMany: (text) => page.toast(text) });
    this.replyBar = el("div", { class: "replying", hidden: true });
    this.entry = el("div", { class: "entry" }, [this.mirror, this.box]);
    this.row = el("div", { class: "composer-row" }, [
      iconButton("plus", "Attach a file", () => this.tray.chooser.click(), { class: "icon-button attach" }),
      this.tray.chooser,
      this.entry,
      this.count,
      iconButton("send", "Send message", () => void this.submit(), { class: "icon-button send" }),
    ]);
    this.node = el("div", { class: "composer" }, [this.picker.node, this.replyBar, this.tray.node, this.row]);
    this.listen();
  }

  listen() {
    this.box.addEventListener("input", () => this.onInput());
    this.box.addEventListener("keydown", (event) => this.onKey(event));
    this.box.addEventListener("click", () => this.suggest());
    this.box.addEventListener("blur", () => this.picker.hide());
    this.box.addEventListener("paste", (event) => {
      if (!event.clipboardData.files.length) return;
      event.preventDefault();
      void this.tray.add(event.clipboardData.files);
    });
  }

  /** Turns to a channel; what was typed in the one before is kept for it. */
  setChannel(id, label) {
    this.box.setAttribute("aria-label", label);
    this.box.placeholder = label;
    if (this.channel === id) return undefined;
    this.drafts.set(this.channel, this.box.value);
    this.channel = id;
    this.endCommand();
    this.setReply(null);
    this.tray.set([]);
    return this.fill(this.drafts.get(id) ?? "", { focus: false });
  }

  fill(text, { focus = true } = {}) {
    this.endCommand();
    this.box.value = text;
    this.onInput();
    if (focus) this.focus();
  }

  focus() {
    if (this.form) return this.form.focusFirst();
    this.box.focus();
    return this.box.setSelectionRange(this.box.value.length, this.box.value.length);
  }

  onInput() {
    const text = this.box.value;
    const pieces = [];
    let at = 0;
    for (const mention of mentionsIn(text, this.page.directory)) {
      pieces.push(
        text.slice(at, mention.from),
        el("span", { class: "mirror-mention", text: text.slice(mention.from, mention.to) }),
      );
      at = mention.to;
    }
    this.mirror.replaceChildren(...pieces, `${text.slice(at)}\u200b`);
    const left = MAX_CHARACTERS - text.length;
    this.count.textContent = left < 200 ? String(left) : "";
    this.count.classList.toggle("over", left < 0);
    this.suggest();
  }

  suggest() {
    if (document.activeElement !== this.box) return this.picker.hide();
    const text = this.box.value;
    if (text.startsWith("/")) return this.suggestCommands(text);
    const word = wordAt(text, this.box.selectionStart);
    if (!word) return this.picker.hide();
    const { directory } = this.page;
    const choices = word.sign === "@" ? mentionChoices(directory, word.query) : channelChoices(directory, word.query);
    return this.picker.show(
      word.sign === "@" ? "Members" : "Text channels",
      choices.map((choice) => ({
        key: choice.kind + choice.label,
        name: choice.label,
        choice,
        content: choiceNodes(choice, word.sign),
      })),
      ({ choice }) => this.insert(word, choice),
    );
  }

  insert(word, choice) {
    const text = this.box.value;
    const start = `${text.slice(0, word.from)}${word.sign}${choice.label} `;
    this.box.value = start + text.slice(this.box.selectionStart).replace(/^ /, "");
    this.box.setSelectionRange(start.length, start.length);
    this.onInput();
  }

  get commands() {
    return flattenCommands(this.page.directory.commands);
  }

  suggestCommands(text) {
    if (text === "/") void this.page.refreshCommands();
    const commands = commandChoices(this.commands, text);
    this.picker.show(
      "Commands",
      commands.map((command) => ({
        key: command.name,
        name: `/${command.name}`,
        command,
        content: commandNodes(command, this.page.directory),
      })),
      ({ command }) => this.startCommand(command),
    );
  }

  startCommand(command, start = {}) {
    this.endCommand();
    this.form = commandForm(command, this.page.directory, {
      start,
      onSend: (chosen, options) => this.run(chosen, options),
      onCancel: () => {
        this.endCommand();
        this.fill("");
      },
    });
    this.picker.hide();
    this.entry.replaceWith(this.form);
    this.row.classList.add("in-command");
    this.form.focusFirst();
  }

  endCommand() {
    if (!this.form) return;
    this.form.replaceWith(this.entry);
    this.row.classList.remove("in-command");
    this.form = null;
  }

  run(command, options) {
    this.fill("");
    void runCommand(this.page, command.name, options);
  }

  onKey(event) {
    if (event.isComposing || this.picker.takeKey(event)) return;
    if (event.key === "Enter" && !event.shiftKey) {
      event.preventDefault();
      void this.submit();
    } else if (event.key === "Escape" && this.replyTo) this.setReply(null);
    else if (event.key === "ArrowUp" && this.box.value === "") {
      event.preventDefault();
      editLast(this.page);
    }
  }

  /** Enter: a whole command runs, one that lacks options shows its fields, an open list picks, else the text goes. */
  async submit() {
    if (this.form) return this.form.requestSubmit();
    const text = this.box.value.trim();
    const line = text.startsWith("/") ? parseCommandLine(text, this.commands) : null;
    if (line && this.runLine(line)) return undefined;
    if (this.picker.open) return this.picker.pick();
    const { replyTo, tray } = this;
    const { files, attachments } = tray;
    if (!text && !files.length) return undefined;
    if (text.length > MAX_CHARACTERS) {
      return this.page.toast(`Your message is too long: ${text.length} of ${MAX_CHARACTERS} characters.`);
    }
    this.fill("");
    tray.set([]);
    this.setReply(null);
    const draft = { content: toWire(text, this.page.directory), reply_to: replyTo?.id, attachments };
    if (await send(this.page, draft)) return undefined;
    tray.set(files);
    this.setReply(replyTo);
    return this.fill(text);
  }

  runLine({ command, options }) {
    if (missingOptions(command, options).length) {
      this.startCommand(command, options);
      return true;
    }
    try {
      this.run(command, typedOptions(command, options, this.page.directory));
    } catch (problem) {
      if (!(problem instanceof RangeError)) throw problem;
      this.page.toast(problem.message);
    }
    return true;
  }

  setReply(message) {
    this.replyTo = message;
    this.replyBar.hidden = !message;
    if (!message) return;
    this.replyBar.replaceChildren(
      el("span", {}, [
        "Replying to ",
        el("strong", { text: this.page.directory.authorName(message.author) }),
      ]),
      iconButton("close", "Cancel reply", () => this.setReply(null)),
    );
    this.focus();
  }
}

function choiceNodes(choice, sign) {
  const face = choice.member ? avatar(choice.member.user, 24, choice.label) : el("span", {
    class: "picker-sign",
    text: sign,
  });
  return [
    face,
    el("span", { class: "picker-name", text: choice.label }),
    choice.member?.user.bot && el("span", { class: "app-tag", text: "APP" }),
    el("small", { text: choice.detail }),
  ];
}

function commandNodes(command, directory) {
  const options = command.options.map((option) => el("span", {
    class: `picker-option${option.required ? " required" : ""}`,
    text: option.name,
  }));
  return [
    avatar({ ...directory.bot, bot: true }, 32),
    el("span", { class: "picker-command" }, [
      el("span", {}, [el("span", { class: "picker-name", text: `/${command.name}` }), options]),
      el("small", { text: command.description }),
    ]),
  ];
}
