// A slash command with its options as named fields, in place of the text box.

import { el, iconButton } from "./dom.js";
import { typedOptions } from "./suggest.js";

/**
 * `onSend(command, options)` gets typed values; `onCancel()` gives the text box back. `start` holds values
 * that were typed already.
 */
export function commandForm(command, directory, { start = {}, onSend, onCancel }) {
  const fields = command.options.map((option) => ({
    option,
    input: inputFor(option, directory, start[option.name]),
  }));
  const error = el("span", { class: "command-error", role: "alert" });
  const form = el("form", {
    class: "command-form",
    "aria-label": `Command /${command.name}`,
    autocomplete: "off",
  }, [
    el("span", { class: "mention command-name", text: `/${command.name}` }),
    fields.map(({ option, input }) => el(
      "label",
      { class: `command-field${option.required ? " required" : ""}`, title: option.description },
      [el("span", { text: option.name }), input],
    )),
    error,
    el("button", { type: "submit", class: "button button-primary small", text: "Run" }),
    iconButton("close", "Cancel command", onCancel),
  ]);
  form.addEventListener("submit", (event) => {
    event.preventDefault();
    const values = Object.fromEntries(fields.map(({ option, input }) => [option.name, input.value.trim()]));
    const missing = fields.find(({ option }) => option.required && !values[option.name]);
    try {
      if (missing) throw new RangeError(`${missing.option.name} is required.`);
      onSend(command, typedOptions(command, values, directory));
    } catch (problem) {
      if (!(problem instanceof RangeError)) throw problem;
      error.textContent = problem.message;
      missing?.input.focus();
    }
  });
  form.addEventListener("keydown", (event) => {
    const empty = event.key === "Backspace" && event.target.value === "" && event.target === fields[0]?.input;
    if (event.key !== "Escape" && !empty) return;
    event.preventDefault();
    onCancel();
  });
  form.focusFirst = () => {
    const first = fields.find(({ option, input }) => option.required && !input.value) ?? fields[0];
    (first?.input ?? form.querySelector("[type=submit]")).focus();
  };
  return form;
}

function inputFor(option, directory, value) {
  const choices = choicesFor(option, directory);
  const input = choices
    ? el("select", {}, [
      el("option", { value: "", text: "" }),
      ...choices.map((choice) => el("option", { value: String(choice.value), text: choice.name })),
    ])
    : el("input", {
      type: "text",
      inputmode: option.type === 4 || option.type === 10 ? "decimal" : undefined,
      placeholder: option.required ? "" : "optional",
      maxlength: option.max_length,
    });
  input.setAttribute("aria-label", option.name);
  if (value !== undefined) input.value = value;
  return input;
}

function choicesFor(option, directory) {
  if (option.choices?.length) return option.choices;
  const people = () => [...directory.members.values()].map((member) => ({
    name: member.name,
    value: member.user.id,
  }));
  const roles = () => [...directory.roles.values()].map((role) => ({ name: role.name, value: role.id }));
  switch (option.type) {
    case 5: return [{ name: "True", value: "true" }, { name: "False", value: "false" }];
    case 6: return people();
    case 7: return [...directory.channels.values()].filter((channel) => channel.guild_id).map((channel) => ({
      name: `#${channel.name}`,
      value: channel.id,
    }));
    case 8: return roles();
    case 9: return [...people(), ...roles()];
    default: return null;
  }
}
