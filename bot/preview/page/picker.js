// The list above the text box. Focus stays in the box; arrows and Tab are passed on to the list.

import { el } from "./dom.js";

export class Picker {
  constructor(box) {
    this.box = box;
    this.items = [];
    this.title = el("div", { class: "picker-title" });
    this.list = el("ul", { id: "picker-list", role: "listbox" });
    this.node = el("div", { class: "picker", hidden: true }, [this.title, this.list]);
  }

  get open() {
    return !this.node.hidden;
  }

  /** `items`: [{key, content (nodes), name}]; `onPick(item)` when one is chosen. */
  show(title, items, onPick) {
    if (!items.length) return this.hide();
    const before = this.items[this.index]?.key;
    this.items = items;
    this.onPick = onPick;
    this.index = Math.max(0, this.open ? items.findIndex((item) => item.key === before) : 0);
    this.title.textContent = title;
    this.list.setAttribute("aria-label", title);
    this.list.replaceChildren(...items.map((item, index) => el("li", {
      id: `picker-${index}`, role: "option", "aria-label": item.name, class: "picker-item",
      on: {
        pointermove: () => this.select(index),
        pointerdown: (event) => event.preventDefault(),
        click: () => this.pick(index),
      },
    }, item.content)));
    this.node.hidden = false;
    return this.select(this.index);
  }

  hide() {
    this.node.hidden = true;
    this.items = [];
    this.box.removeAttribute("aria-activedescendant");
  }

  select(index) {
    this.index = (index + this.items.length) % this.items.length;
    [...this.list.children].forEach((item, position) => item.setAttribute(
      "aria-selected",
      String(position === this.index),
    ));
    this.list.children[this.index].scrollIntoView({ block: "nearest" });
    this.box.setAttribute("aria-activedescendant", `picker-${this.index}`);
  }

  pick(index = this.index) {
    const item = this.items[index];
    this.hide();
    this.onPick(item);
  }

  /** Whether the key was for the list. Enter is left to the caller through `pick`. */
  takeKey(event) {
    if (!this.open) return false;
    if (event.key === "ArrowDown") this.select(this.index + 1);
    else if (event.key === "ArrowUp") this.select(this.index - 1);
    else if (event.key === "Tab") this.pick();
    else if (event.key === "Escape") this.hide();
    else return false;
    event.preventDefault();
    event.stopPropagation();
    return true;
  }
}
