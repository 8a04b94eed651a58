// The page as a whole: who looks at which channel of which world, and how it is read from the server.

import { api, ApiError } from "./api.js";
import { setClock } from "./clock.js";
import { Composer } from "./composer.js";
import { el, icon, iconButton } from "./dom.js";
import { emptyHint } from "./hint.js";
import { greeting, Log } from "./log.js";
import { toast } from "./modal.js";
import { richText } from "./richtext.js";
import { drawMembers, drawSidebar } from "./sidebar.js";
import { Directory, isThread } from "./state.js";

const byId = (id) => document.getElementById(id);

export class Page {
  constructor() {
    this.directory = new Directory({});
    this.viewer = { id: "" };
    this.channel = null;
    this.unread = new Map();
    this.directs = new Map();
    this.dismissed = new Set(JSON.parse(sessionStorage.getItem("dismissed") ?? "[]"));
    this.modals = new Set();
    this.botOnline = true;
    this.reading = 0;
    this.waiting = [];
    this.log = new Log(this, { intro: (count) => this.intro(count) });
    this.composer = new Composer(this);
    this.head = el("header", { class: "channel-head" });
    const chat = [this.log.node, this.log.present, this.composer.node, this.log.typingLine];
    byId("main").replaceChildren(this.head, el("div", { class: "chat" }, chat));
  }

  /** Applies an event, now or after what is being read. */
  take(event, apply) {
    if (this.reading) this.waiting.push(() => apply(this, event));
    else apply(this, event);
  }

  /** Runs `work`, which reads from the server, and says whether it could; events that come in meanwhile wait for it. */
  async reads(work) {
    this.reading += 1;
    try {
      await work();
      return true;
    } catch (problem) {
      this.report(problem);
      return false;
    } finally {
      this.reading -= 1;
      if (!this.reading) for (const apply of this.waiting.splice(0)) apply();
    }
  }

  readAll() {
    return this.reads(async () => {
      await this.readWorld();
      await this.openFromHash();
    });
  }

  async readWorld() {
    const world = await api.world();
    if (world.now_ms) setClock(world.now_ms);
    this.directory = new Directory(world, this.directs);
    this.botOnline = world.bot?.online ?? this.botOnline;
    const asked = new URLSearchParams(location.search).get("viewer");
    const wanted = this.viewer.id || sessionStorage.getItem("viewer") || asked;
    const { people } = this.directory;
    const chosen = people.find(({ user }) => user.id === wanted || user.username === wanted) ?? people[0];
    this.viewer = chosen?.user ?? { id: "" };
    this.draw();
  }

  /** The commands may have been registered since the world was read. */
  async refreshCommands() {
    const before = JSON.stringify(this.directory.commands);
    await this.attempt(this.readWorld());
    if (JSON.stringify(this.directory.commands) !== before) this.composer.suggest();
  }

  /** The id of the viewer's direct messages, or the name that the server takes before they were opened. */
  get directId() {
    return this.directory.directChannel(this.viewer.id)?.id ?? `@${this.viewer.username}`;
  }

  get isDirect() {
    return this.channel === this.directId || Boolean(this.channel?.startsWith("@"));
  }

  get channelName() {
    if (this.isDirect) return this.directory.memberName(this.directory.bot.id);
    return this.directory.channels.get(this.channel)?.name ?? "unknown";
  }

  /** Opens the channel that the address names: the viewer's own direct messages, a channel, or the first one. */
  async openFromHash() {
    const wanted = decodeURIComponent(/^#\/channels\/(.+)$/.exec(location.hash)?.[1] ?? "");
    const known = this.directory.channels.get(wanted);
    const first = this.directory.guilds.flatMap((guild) => this.directory.textChannels(guild))[0]?.id;
    if (wanted.startsWith("@") || known?.type === 1) await this.open(this.directId);
    else await this.open(known ? wanted : (first ?? this.directId));
  }

  async open(channel) {
    const viewer = this.viewer.id;
    const fresh = this.shownAs !== `${channel} ${viewer}`;
    this.channel = channel;
    this.unread.delete(channel);
    this.draw();
    const label = `Messages in ${this.channelName}`;
    this.composer.setChannel(channel, `Message ${this.isDirect ? "@" : "#"}${this.channelName}`);
    if (fresh) {
      this.shownAs = null;
      this.log.load([], label, { fresh });
    }
    await this.reads(async () => {
      const messages = await api.messages(channel, viewer);
      if (this.channel !== channel || this.viewer.id !== viewer) return;
      if (channel.startsWith("@") && messages.length) this.learnDirect(messages[0].channel_id, viewer);
      this.shownAs = `${this.channel} ${viewer}`;
      this.log.load(messages, label, { fresh });
    });
    if (fresh && matchMedia("(hover: hover)").matches) this.composer.focus();
  }

  async viewAs(id) {
    const direct = this.isDirect;
    this.viewer = this.directory.members.get(id).user;
    sessionStorage.setItem("viewer", id);
    await this.open(direct ? this.directId : this.channel);
  }

  /** Notes which channel a person's direct messages are: until then they go by the person's name. */
  learnDirect(id, person) {
    if (this.directs.has(id)) return;
    const open = this.isDirect && person === this.viewer.id;
    this.directs.set(id, person);
    this.directory.addDirect(id, person);
    if (!open) return;
    this.channel = id;
    this.shownAs = `${id} ${person}`;
    this.composer.channel = id;
    history.replaceState(null, "", `#/channels/${id}`);
    this.draw();
  }

  draw() {
    drawSidebar(byId("sidebar"), this, (id) => void this.viewAs(id));
    drawMembers(byId("members"), this);
    this.drawHead();
    document.title = `${this.isDirect ? "@" : "#"}${this.channelName} | Countersign preview`;
  }

  drawHead() {
    const channel = this.directory.channels.get(this.channel);
    const mark = this.isDirect ? "at" : channel && isThread(channel) ? "thread" : "hash";
    const toggle = (name) => document.body.classList.toggle(name);
    const parts = [
      iconButton("menu", "Channels", () => toggle("show-sidebar"), { class: "icon-button menu-button" }),
      icon(mark, 24),
      el("h2", { text: this.channelName }),
      channel?.topic && el("div", { class: "topic" }, richText(channel.topic, this.directory)),
      el("span", { class: "grow" }),
      !this.botOnline && el("span", { class: "bot-offline", text: "The bot is offline" }),
      iconButton("people", "Member list", () => toggle("hide-members"), { class: "icon-button people-button" }),
    ];
    this.head.replaceChildren(...parts.filter(Boolean));
  }

  intro(count) {
    const bot = { ...this.directory.bot, bot: true };
    const hint = count === 0 && this.shownAs ? emptyHint(this) : null;
    return [greeting(this.channelName, this.isDirect, bot), hint].filter(Boolean);
  }

  toast(text) {
    toast(byId("toasts"), text);
  }

  report(problem) {
    if (!(problem instanceof ApiError)) throw problem;
    this.toast(problem.message);
  }

  /** Waits for one call of the server; its refusal becomes a notice. Gives the answer, or undefined. */
  async attempt(promise) {
    try {
      return (await promise) ?? {};
    } catch (problem) {
      this.report(problem);
      return undefined;
    }
  }
}
