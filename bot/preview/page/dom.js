// The only place that makes elements. Data becomes text nodes and attributes, never markup.

const SVG = "http://www.w3.org/2000/svg";

const ICONS = {
  hash: "M9 3 7 21M17 3l-2 18M4 8.5h17M3 15.5h17",
  at: "M16 12a4 4 0 1 1-8 0 4 4 0 0 1 8 0Zm0 0v1.5a2.5 2.5 0 0 0 5 0V12a9 9 0 1 0-4 7.5",
  thread: "M5 4v9a3 3 0 0 0 3 3h11M15 12l4 4-4 4",
  menu: "M4 6h16M4 12h16M4 18h16",
  people: "M9 11a3.5 3.5 0 1 0 0-7 3.5 3.5 0 0 0 0 7ZM2.5 20c0-4 3-6 6.5-6s6.5 2 6.5 6M16 4.5a3.5 3.5 0 0 1 0 6.5M19 15l2 5",
  plus: "M12 5v14M5 12h14",
  reply: "M10 5 3 12l7 7M3 12h10c5 0 8 3 8 7",
  pencil: "M4 20l1-5L16 4l4 4L9 19l-5 1Z",
  trash: "M4 7h16M9 7V4h6v3M6 7l1 13h10l1-13M10 11v6M14 11v6",
  smile: "M12 21a9 9 0 1 0 0-18 9 9 0 0 0 0 18ZM8 14c1 2 2.5 3 4 3s3-1 4-3M9 9v1M15 9v1",
  eye: "M2 12s4-7 10-7 10 7 10 7-4 7-10 7S2 12 2 12Zm10 3a3 3 0 1 0 0-6 3 3 0 0 0 0 6Z",
  file: "M6 3h8l4 4v14H6V3Zm8 0v4h4",
  download: "M12 4v11M7 10l5 5 5-5M5 20h14",
  close: "M6 6l12 12M18 6 6 18",
  down: "M12 5v14M6 13l6 6 6-6",
  chevron: "M6 9l6 6 6-6",
  external: "M10 5H5v14h14v-5M13 5h6v6M19 5l-9 9",
  check: "M5 12l5 5 9-10",
  send: "M4 12 20 4l-5 16-3-7-8-1Z",
};

/**
 * Makes an element. `props`: class, text, dataset, style, on (listeners), and anything else as an attribute;
 * `false`, `null` and `undefined` leave an attribute out, `true` sets it empty.
 */
export function el(tag, props = {}, children = []) {
  const node = document.createElement(tag);
  for (const [name, value] of Object.entries(props)) {
    if (value === undefined || value === null || value === false) continue;
    if (name === "class") node.className = value;
    else if (name === "text") node.textContent = value;
    else if (name === "dataset") Object.assign(node.dataset, value);
    else if (name === "style") Object.assign(node.style, value);
    else if (name === "on") for (const [type, listener] of Object.entries(value)) node.addEventListener(type, listener);
    else node.setAttribute(name, value === true ? "" : String(value));
  }
  node.append(...[children].flat(Infinity).filter((child) => child !== null && child !== undefined && child !== false));
  return node;
}

/** A line icon by name, hidden from assistive technology: its button carries the name. */
export function icon(name, size = 20) {
  const svg = document.createElementNS(SVG, "svg");
  const attributes = { viewBox: "0 0 24 24", width: size, height: size, class: "icon", "aria-hidden": "true" };
  for (const [key, value] of Object.entries(attributes)) svg.setAttribute(key, value);
  const path = document.createElementNS(SVG, "path");
  path.setAttribute("d", ICONS[name]);
  svg.append(path);
  return svg;
}

/** A button with an icon only; `label` is its accessible name and its tooltip. */
export function iconButton(name, label, onClick, props = {}) {
  return el(
    "button",
    {
      type: "button",
      class: "icon-button",
      "aria-label": label,
      title: label,
      on: { click: onClick },
      ...props,
    },
    [icon(name)],
  );
}

/**
 * Makes `parent` hold `next`, keeping each old child that is already equal, so that focus, selection and
 * scroll inside unchanged parts stay.
 */
export function patchChildren(parent, next) {
  const old = [...parent.childNodes];
  next.forEach((node, index) => {
    if (!old[index]) parent.append(node);
    else if (!old[index].isEqualNode(node) && !revealed(old[index], node)) patchNode(old[index], node);
  });
  for (const stale of old.slice(next.length)) stale.remove();
}

/** A spoiler that the reader has opened stays open while its text stays the same. */
function revealed(old, node) {
  const open = old.classList?.contains("revealed") && node.classList?.contains("spoiler");
  return open && old.textContent === node.textContent;
}

function patchNode(old, node) {
  if (old.nodeType === Node.TEXT_NODE && node.nodeType === Node.TEXT_NODE) {
    // A streamed text mostly grows: appending leaves a selection in the text before it alone.
    if (node.data.startsWith(old.data)) old.appendData(node.data.slice(old.data.length));
    else old.data = node.data;
    return;
  }
  const elements = old.nodeType === Node.ELEMENT_NODE && node.nodeType === Node.ELEMENT_NODE;
  const alike = elements && old.cloneNode().isEqualNode(node.cloneNode());
  if (alike && !old.hasAttribute("data-whole")) patchChildren(old, [...node.childNodes]);
  else old.replaceWith(node);
}
