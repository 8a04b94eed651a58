// Dialogs: a modal that the bot opened, and the question before a delete.

import { el, iconButton } from "./dom.js";
import { richText } from "./richtext.js";
import { selectMenu, selectOptions } from "./select.js";

let serial = 0; // only makes ids unique within the page

/** Shows a dialog named by `title`; `footer(close)` gives its buttons. Returns {dialog, form, close(), error(text)}. */
function openDialog(title, body, footer, className) {
  const id = `dialog-${(serial += 1)}`;
  const problem = el("p", { class: "dialog-error", role: "alert" });
  const dialog = el("dialog", { class: `dialog ${className}`, "aria-labelledby": id }, [
    el("form", { method: "dialog", autocomplete: "off" }, [
      el("header", { class: "dialog-head" }, [
        el("h2", { id, text: title }),
        iconButton("close", "Close", () => dialog.close()),
      ]),
      el("div", { class: "dialog-body" }, [...body, problem]),
      el("footer", { class: "dialog-foot" }, footer(() => dialog.close())),
    ]),
  ]);
  dialog.addEventListener("close", () => dialog.remove());
  document.body.append(dialog);
  dialog.showModal();
  return {
    dialog,
    form: dialog.firstElementChild,
    close: () => dialog.close(),
    error: (text) => (problem.textContent = text),
  };
}

/**
 * Shows a modal of the bot. `submit(fields)` sends {custom_id: value} and gives null when it was taken, else the
 * sentence to show; the dialog then stays open with what was typed.
 */
export function openModal(modal, directory, submit) {
  const fields = [];
  const body = (modal.components ?? []).flatMap((component) => fieldNodes(component, directory, fields));
  const view = openDialog(modal.title, body, (close) => [
    el("button", { type: "button", class: "button button-text", text: "Cancel", on: { click: close } }),
    el("button", { type: "submit", class: "button button-primary", text: "Submit" }),
  ], "modal");
  view.form.addEventListener("submit", async (event) => {
    event.preventDefault();
    const missing = fields.find((field) => field.problem());
    if (missing) {
      view.error(missing.problem());
      return missing.focus();
    }
    const button = view.form.querySelector("[type=submit]");
    button.disabled = true;
    const refusal = await submit(Object.fromEntries(fields.map((field) => [field.id, field.value()])));
    button.disabled = false;
    if (refusal === null) return view.close();
    return view.error(refusal);
  });
  fields[0]?.focus();
  return view;
}

// The numbers are Discord's component types; 4 is a text input and 18 a label with a component in it.
// Source: https://discord.com/developers/docs/components/reference#component-object-component-types
function fieldNodes(component, directory, fields) {
  switch (component.type) {
    case 1: return (component.components ?? []).flatMap((child) => fieldNodes(child, directory, fields));
    case 4: return [textField(component, component.label, "", fields)];
    case 10: return [el("div", { class: "rich" }, richText(component.content, directory))];
    case 18: return component.component?.type === 4 ? [
      textField(component.component, component.label, component.description, fields),
    ] : selectField(component, directory, fields);
    default: return [];
  }
}

function textField(input, label, description, fields) {
  const id = `field-${(serial += 1)}`;
  const required = input.required !== false;
  const attributes = {
    id,
    class: "field-input",
    placeholder: input.placeholder || undefined,
    maxlength: input.max_length ?? 4000,
    "aria-required": String(required),
  };
  const box = input.style === 2 ? el("textarea", { ...attributes, rows: 5 }) : el("input", {
    ...attributes,
    type: "text",
  });
  box.value = input.value ?? "";
  const problem = () => {
    if (required && !box.value) return `${label}: this is required.`;
    const tooShort = box.value && box.value.length < (input.min_length ?? 0);
    if (tooShort) return `${label}: at least ${input.min_length} characters.`;
    return null;
  };
  fields.push({ id: input.custom_id, value: () => box.value, problem, focus: () => box.focus() });
  return el("div", { class: "field" }, [
    el("label", { for: id }, [label]), required && el("span", {
      class: "field-star",
      "aria-hidden": "true",
      text: "*",
    }),
    description && el("p", { class: "field-hint", text: description }), box,
  ]);
}

function selectField({ label, description, component }, directory, fields) {
  if (!component || ![3, 5, 6, 7, 8].includes(component.type)) return [];
  const min = component.min_values ?? 1;
  const node = selectMenu({
    name: label,
    placeholder: component.placeholder || "Make a selection",
    options: selectOptions(component, directory),
    min,
    max: component.max_values ?? 1,
  });
  const problem = () => (component.required !== false && node.values.length < min ? `${label}: please choose.` : null);
  fields.push({
    id: component.custom_id,
    value: () => node.values,
    problem,
    focus: () => node.querySelector("button").focus(),
  });
  return [
    el("div", { class: "field" }, [
      el("span", { class: "field-label", text: label }),
      description && el("p", { class: "field-hint", text: description }),
      node,
    ]),
  ];
}

/** Asks before something that cannot be taken back; resolves to true or false. */
export function confirmDialog(title, text, action) {
  return new Promise((resolve) => {
    let answer = false;
    const view = openDialog(title, [el("p", { text })], (close) => [
      el("button", { type: "button", class: "button button-text", text: "Cancel", on: { click: close } }),
      el("button", { type: "button", class: "button button-danger", text: action, autofocus: true, on: {
        click: () => {
          answer = true;
          close();
        },
      } }),
    ], "confirm");
    view.dialog.addEventListener("close", () => resolve(answer));
  });
}

/** A sentence that shows for a while at the top; `region` is the live region of the page. */
export function toast(region, text) {
  const node = el("div", { class: "toast" }, [
    el("span", { text }),
    iconButton("close", "Close notice", () => node.remove()),
  ]);
  region.append(node);
  setTimeout(() => node.remove(), 8000);
}
