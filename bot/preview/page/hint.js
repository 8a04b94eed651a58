// What to try first, in a channel where nothing was said yet.

import { el, iconButton } from "./dom.js";

const KEY = "hint-dismissed";

/** A card with things to try; a click fills the text box. Null once the reader has closed it. */
export function emptyHint(page) {
  if (localStorage.getItem(KEY)) return null;
  const bot = page.directory.memberName(page.directory.bot.id);
  const lead = page.isDirect ? "" : `@${bot} `;
  const tries = [`${lead}what is in this folder?`, `${lead}write hello to hello.txt`, "/help"];
  const card = el("section", { class: "hint", "aria-label": "Things to try" }, [
    el("div", { class: "hint-head" }, [
      el("h3", { text: "Try it" }),
      iconButton("close", "Close hint", () => {
        localStorage.setItem(KEY, "1");
        card.remove();
      }),
    ]),
    el("p", {
      text: page.isDirect
        ? `Write to ${bot} and press Enter.`
        : `Mention @${bot} to talk to it. Before it does anything dangerous, it asks with buttons.`,
    }),
    el(
      "ul",
      {},
      tries.map((text) => el("li", {}, [
        el("button", {
          type: "button",
          class: "hint-try",
          text,
          on: { click: () => page.composer.fill(text) },
        }),
      ])),
    ),
  ]);
  return card;
}
