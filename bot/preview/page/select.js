// A select menu as Discord draws it: a button that opens a list of options with descriptions.

import { el, icon } from "./dom.js";

/**
 * `options`: [{value, label, description?, emoji?, default?}]. `onChange(values)` runs once the choice is made:
 * at the pick of a single one, at the closing of a list that takes several. The node's `values` are what is chosen.
 */
export function selectMenu({
  name,
  placeholder,
  options,
  min = 1,
  max = 1,
  disabled = false,
  customId,
  onChange = () => {},
}) {
  let chosen = options.filter((option) => option.default).map((option) => option.value);
  let before = chosen.join("\n");
  const label = el("span", { class: "select-label" });
  const list = el("ul", {
    class: "select-list",
    role: "listbox",
    "aria-label": name ?? placeholder,
    "aria-multiselectable": String(max > 1),
    hidden: true,
  });
  const button = el(
    "button",
    {
      type: "button",
      class: "select-button",
      "aria-haspopup": "listbox",
      "aria-expanded": "false",
      "aria-label": name ?? placeholder,
      disabled,
    },
    [label, icon("chevron")],
  );
  const node = el(
    "div",
    {
      class: "select",
      "data-custom-id": customId,
      "data-options": JSON.stringify(options),
      "data-whole": true,
    },
    [button, list],
  );

  const showChosen = () => {
    const labels = options.filter((option) => chosen.includes(option.value)).map((option) => option.label);
    label.textContent = labels.join(", ") || placeholder;
    label.classList.toggle("placeholder", labels.length === 0);
    node.values = chosen;
    for (const item of list.children) item.setAttribute(
      "aria-selected",
      String(chosen.includes(item.dataset.value)),
    );
  };
  const open = () => {
    list.hidden = false;
    button.setAttribute("aria-expanded", "true");
    const space = window.innerHeight - button.getBoundingClientRect().bottom;
    list.classList.toggle("upward", space < Math.min(320, list.offsetHeight) + 12);
    (list.querySelector("[aria-selected=true]") ?? list.firstElementChild)?.focus({ preventScroll: true });
    document.addEventListener("pointerdown", outside, true);
  };
  const close = (refocus) => {
    if (list.hidden) return;
    list.hidden = true;
    button.setAttribute("aria-expanded", "false");
    document.removeEventListener("pointerdown", outside, true);
    if (refocus) button.focus({ preventScroll: true });
    if (max > 1 && chosen.join("\n") !== before && chosen.length >= min) commit();
  };
  const commit = () => {
    before = chosen.join("\n");
    onChange([...chosen]);
  };
  const outside = (event) => {
    if (!node.contains(event.target)) close(false);
  };
  const pick = (value) => {
    if (max > 1) {
      if (chosen.includes(value)) chosen = chosen.filter((one) => one !== value);
      else if (chosen.length < max) chosen = [...chosen, value];
      showChosen();
      return;
    }
    chosen = [value];
    showChosen();
    close(true);
    commit();
  };

  for (const option of options) {
    const item = el("li", {
      role: "option",
      tabindex: -1,
      "aria-label": option.label,
      dataset: { value: option.value },
      on: { click: () => pick(option.value) },
    }, [
      option.emoji?.name && el("span", {
        class: "select-emoji",
        "aria-hidden": "true",
        text: option.emoji.id ? `:${option.emoji.name}:` : option.emoji.name,
      }),
      el("span", { class: "select-text" }, [
        el("span", { text: option.label }),
        option.description && el("small", { text: option.description }),
      ]),
      el("span", { class: "select-tick" }, [icon("check", 16)]),
    ]);
    list.append(item);
  }
  if (!options.length) list.append(el("li", { class: "select-empty", text: "Nothing to choose" }));
  button.addEventListener("click", () => (list.hidden ? open() : close(true)));
  list.addEventListener("keydown", (event) => {
    const item = event.target.closest("[role=option]");
    const step = { ArrowDown: "nextElementSibling", ArrowUp: "previousElementSibling" }[event.key];
    if (step) item?.[step]?.focus();
    else if (event.key === "Enter" || event.key === " ") pick(item.dataset.value);
    else if (event.key === "Escape") close(true);
    else return;
    event.preventDefault();
    event.stopPropagation();
  });
  showChosen();
  return node;
}

/** The options of a select; those over people, roles and channels come from the world. */
export function selectOptions(component, directory) {
  const people = () => [...directory.members.values()].map((member) => ({
    value: member.user.id,
    label: member.name,
    description: member.user.username,
  }));
  const roles = () => [...directory.roles.values()]
    .filter((role) => role.name !== "@everyone")
    .map((role) => ({ value: String(role.id), label: `@${role.name}` }));
  const kinds = component.channel_types ?? [];
  const channels = () => [...directory.channels.values()]
    .filter((channel) => channel.guild_id && (!kinds.length || kinds.includes(channel.type ?? 0)))
    .map((channel) => ({ value: String(channel.id), label: `#${channel.name}` }));
  const sources = { 5: people, 6: roles, 7: () => [...people(), ...roles()], 8: channels };
  const options = sources[component.type]?.() ?? component.options ?? [];
  const defaults = new Set((component.default_values ?? []).map((value) => String(value.id)));
  return options.map((option) => ({ ...option, default: option.default || defaults.has(option.value) }));
}
