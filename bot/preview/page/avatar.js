// Avatars are drawn here: a letter on a colour, and a picture over it when the user has one on this server.

import { el } from "./dom.js";
import { avatarColor, initials } from "./format.js";
import { nameOf } from "./state.js";

/** `user` has id, names and maybe `avatar` (a hash); `size` is in CSS pixels. */
export function avatar(user, size = 40, name = nameOf(user)) {
  const node = el("span", {
    class: `avatar${user.bot ? " avatar-bot" : ""}`,
    "aria-hidden": "true",
    text: initials(name),
    style: {
      width: `${size}px`,
      height: `${size}px`,
      fontSize: `${Math.round(size * 0.45)}px`,
      backgroundColor: user.bot ? "#5865f2" : avatarColor(user.id),
    },
  });
  if (user.avatar) node.append(el("img", {
    src: `/cdn/avatars/${user.id}/${user.avatar}.png`,
    alt: "",
    on: { error: (event) => event.currentTarget.remove() },
  }));
  return node;
}
