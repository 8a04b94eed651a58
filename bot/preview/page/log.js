// The message log: which messages stand in it, in what order, and where the reader is.

import { avatar } from "./avatar.js";
import { el, icon } from "./dom.js";
import { dayName } from "./format.js";
import { MessageView } from "./message.js";
import { dots, goesOn, isEphemeral, sentAt } from "./parts.js";
import { MessageList } from "./state.js";

const GROUP_MS = 7 * 60_000;
const SHOWN = 200; // older messages stay out of the document until asked for
const NEAR_BOTTOM_PX = 60;
const TYPING_MS = 10_000;

export class Log {
  constructor(page, { intro }) {
    this.page = page;
    this.intro = intro;
    this.list = new MessageList();
    this.views = new Map();
    this.failures = new Map();
    this.typing = new Map();
    this.shown = SHOWN;
    this.stuck = true;
    this.lastTop = 0;
    this.items = el("div", { class: "log-items" });
    this.start = el("div", { class: "log-start" });
    this.node = el(
      "div",
      { class: "log", role: "log", tabindex: 0, "aria-live": "polite", "aria-label": "Messages" },
      [el("div", { class: "log-space" }), this.start, this.items],
    );
    this.present = el(
      "button",
      { type: "button", class: "present-pill", hidden: true, on: { click: () => this.toPresent() } },
      [el("span", { text: "Jump to present" }), icon("down", 16)],
    );
    this.typingLine = el("div", { class: "typing", role: "status", "aria-label": "Typing" });
    this.node.addEventListener("scroll", () => this.onScroll(), { passive: true });
    this.node.addEventListener("keydown", (event) => this.onKey(event));
    new ResizeObserver(() => this.keepPlace()).observe(this.items);
    new ResizeObserver(() => this.keepPlace()).observe(this.node);
  }

  /** Shows another channel, or the same one read anew; kept messages keep their nodes. */
  load(messages, label, { fresh }) {
    this.list = new MessageList(messages);
    this.node.setAttribute("aria-label", label);
    if (fresh) {
      this.shown = SHOWN;
      this.stuck = true;
      this.failures.clear();
      this.typing.clear();
    }
    this.redraw();
    this.showTyping();
  }

  /** Draws every message anew with what the world says now. */
  redraw() {
    for (const view of this.views.values()) view.forget();
    this.layout();
  }

  put(message) {
    const known = this.list.byId.has(String(message.id));
    this.list.put(message);
    if (!known) this.typing.delete(message.author?.id);
    if (known && this.views.has(String(message.id))) this.refresh(String(message.id));
    else this.layout();
    if (!known && !this.stuck) this.present.firstChild.textContent = "New messages";
    this.showTyping();
  }

  remove(id) {
    this.list.delete(String(id));
    this.layout();
  }

  react(event, added) {
    if (this.list.react(event, this.page.viewer.id, added)) this.refresh(event.message_id);
  }

  fail(id, text) {
    if (text) this.failures.set(id, text);
    else this.failures.delete(id);
    this.refresh(id);
  }

  /** Redraws one message alone. */
  refresh(id) {
    const view = this.views.get(id);
    if (!view) return;
    view.update(this.list.byId.get(id), view.grouped, this.failures.get(id));
    this.keepPlace();
  }

  /** Puts every message where it belongs; nodes that already stand right are not moved. */
  layout() {
    const all = this.list.ordered.filter((message) => !this.page.dismissed.has(String(message.id)));
    const messages = all.slice(-this.shown);
    const wanted = [];
    let previous = null;
    for (const message of messages) {
      const id = String(message.id);
      const day = dayName(sentAt(message));
      const newDay = !previous || day !== dayName(sentAt(previous));
      if (newDay) wanted.push(this.divider(day, id));
      if (!this.views.has(id)) this.views.set(id, new MessageView(message, this.page));
      const view = this.views.get(id);
      view.update(message, !newDay && goesOn(message, previous, GROUP_MS), this.failures.get(id));
      wanted.push(view.node);
      previous = message;
    }
    for (const id of this.views.keys()) if (!this.list.byId.has(id)) this.views.delete(id);
    place(this.items, wanted);
    this.rove(wanted[wanted.length - 1]);
    this.start.replaceChildren(...(all.length > messages.length ? [
      this.older(all.length - messages.length),
    ] : this.intro(all.length)));
    this.keepPlace();
  }

  divider(day, id) {
    const known = this.items.querySelector(`[data-day-of="${CSS.escape(id)}"]`);
    if (known?.dataset.day === day) return known;
    return el(
      "div",
      { class: "day", role: "separator", "aria-label": day, "data-day-of": id, "data-day": day },
      [el("span", { text: day })],
    );
  }

  older(count) {
    const show = () => {
      const height = this.node.scrollHeight;
      this.shown += SHOWN;
      this.layout();
      this.node.scrollTop += this.node.scrollHeight - height;
    };
    return el("button", {
      type: "button",
      class: "older",
      text: `Show older messages (${count})`,
      on: { click: show },
    });
  }

  onScroll() {
    const near = this.node.scrollHeight - this.node.scrollTop - this.node.clientHeight < NEAR_BOTTOM_PX;
    // Content that grows also moves the end away; only a reader who scrolls up has left it.
    if (near || this.node.scrollTop < this.lastTop) this.stuck = near;
    this.lastTop = this.node.scrollTop;
    this.present.hidden = this.stuck;
    if (this.stuck) this.present.firstChild.textContent = "Jump to present";
  }

  keepPlace() {
    if (this.stuck) this.node.scrollTop = this.node.scrollHeight;
    else this.present.hidden = this.node.scrollHeight - this.node.scrollTop - this.node.clientHeight < NEAR_BOTTOM_PX;
  }

  toPresent() {
    this.stuck = true;
    this.present.hidden = true;
    this.keepPlace();
    this.page.composer.focus();
  }

  jumpTo(id) {
    const node = this.views.get(String(id))?.node;
    if (!node?.isConnected) return;
    node.scrollIntoView({ block: "center" });
    node.classList.add("flash");
    node.addEventListener("animationend", () => node.classList.remove("flash"), { once: true });
  }

  /** One message is reachable by Tab; arrows go from message to message. */
  rove(node) {
    if (!node || this.items.querySelector(".message[tabindex='0']:focus-within")) return;
    for (const old of this.items.querySelectorAll(".message[tabindex='0']")) old.tabIndex = -1;
    node.tabIndex = 0;
  }

  onKey(event) {
    const current = event.target.closest(".message");
    if (event.target !== current || !["ArrowUp", "ArrowDown"].includes(event.key)) return;
    const messages = [...this.items.querySelectorAll(".message")];
    const next = messages[messages.indexOf(current) + (event.key === "ArrowUp" ? -1 : 1)];
    if (!next) return;
    event.preventDefault();
    current.tabIndex = -1;
    next.tabIndex = 0;
    next.focus();
  }

  startTyping(userId) {
    if (userId === this.page.viewer.id) return;
    clearTimeout(this.typing.get(userId));
    this.typing.set(userId, setTimeout(() => {
      this.typing.delete(userId);
      this.showTyping();
    }, TYPING_MS));
    this.showTyping();
  }

  showTyping() {
    const people = [...this.typing.keys()];
    const names = people.map((id) => this.page.directory.memberName(id));
    const key = names.join("\n");
    if (this.typingLine.dataset.who === key) return;
    this.typingLine.dataset.who = key;
    const who = names.length > 3 ? "Several people" : new Intl.ListFormat("en").format(names);
    const text = `${who} ${names.length === 1 ? "is" : "are"} typing…`;
    this.typingLine.replaceChildren(...(names.length ? [dots(), el("span", { text })] : []));
  }

  /** The newest message that the viewer wrote and may edit. */
  lastOwn() {
    const { id } = this.page.viewer;
    return this.list.ordered.findLast((message) => message.author.id === id && !isEphemeral(message)) ?? null;
  }
}

function place(parent, wanted) {
  const keep = new Set(wanted);
  for (const child of [...parent.children]) if (!keep.has(child)) child.remove();
  wanted.forEach((node, index) => {
    if (parent.children[index] !== node) parent.insertBefore(node, parent.children[index] ?? null);
  });
}

/** The large greeting at the start of a channel, or of direct messages with `user`. */
export function greeting(name, direct, user) {
  const start = direct ? `the beginning of your direct messages with ${name}` : `the start of the #${name} channel`;
  return el("div", { class: "greeting" }, [
    direct ? avatar(user, 80, name) : el("div", { class: "greeting-icon" }, [icon("hash", 42)]),
    el("h2", { text: direct ? name : `Welcome to #${name}!` }),
    el("p", { text: `This is ${start}.` }),
  ]);
}
