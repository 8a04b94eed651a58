// Starts the page: makes it, and listens to the window and the event stream.

import { follow } from "./api.js";
import { applyEvent } from "./events.js";
import { Page } from "./page.js";
import { tickTimes } from "./richtext.js";

const RETRY_MS = 1000;
const page = new Page();
const main = document.getElementById("main");
const banner = document.getElementById("banner");
const closeSidebar = () => document.body.classList.remove("show-sidebar");

function onStream(state) {
  if (state === "open") return void live();
  delete document.body.dataset.live;
  return (banner.hidden = false);
}

/** Reads everything, at the start and after each break; only then is the page said to be live. */
async function live() {
  if (!(await page.readAll())) return void setTimeout(live, RETRY_MS);
  banner.hidden = true;
  return (document.body.dataset.live = "");
}

main.addEventListener("dragover", (event) => {
  event.preventDefault();
  main.classList.add("dropping");
});
main.addEventListener("dragleave", (event) => {
  if (!main.contains(event.relatedTarget)) main.classList.remove("dropping");
});
main.addEventListener("drop", (event) => {
  event.preventDefault();
  main.classList.remove("dropping");
  if (event.dataTransfer.files.length) page.composer.tray.add(event.dataTransfer.files);
});
main.addEventListener("click", (event) => event.target.closest(".menu-button") || closeSidebar());
document.getElementById("sidebar").addEventListener("click", (event) => event.target.closest("a") && closeSidebar());
document.addEventListener("keydown", (event) => event.key === "Escape" && closeSidebar());
// As in Discord, typing goes to the text box wherever one is, unless something else takes it.
document.addEventListener("keydown", (event) => {
  const shortcut = event.ctrlKey || event.metaKey || event.altKey;
  const busy = event.target.closest("input, textarea, select, button, a, dialog, [role=option], [role=button]");
  if (event.key.length === 1 && event.key !== " " && !shortcut && !busy) page.composer.focus();
});
window.addEventListener("hashchange", () => void page.openFromHash());
setInterval(tickTimes, 1000);
follow((event) => page.take(event, applyEvent), onStream);
