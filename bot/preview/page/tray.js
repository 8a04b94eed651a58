// The files that wait to be sent with the next message.

import { el, icon, iconButton } from "./dom.js";
import { fileSize } from "./format.js";

const MAX_FILES = 10;

export class Tray {
  /** `onChange()` runs after files were added, `onTooMany(text)` when some had to stay out. */
  constructor({ onChange, onTooMany }) {
    this.onChange = onChange;
    this.onTooMany = onTooMany;
    this.files = [];
    this.node = el("ul", { class: "tray", "aria-label": "Files to send", hidden: true });
    this.chooser = el("input", { type: "file", multiple: true, tabindex: -1, "aria-label": "Upload files" });
    this.chooser.className = "visually-hidden";
    this.chooser.addEventListener("change", () => {
      void this.add(this.chooser.files);
      this.chooser.value = "";
    });
  }

  /** What control takes: names, types and base64. */
  get attachments() {
    return this.files.map(({ filename, content_type, base64 }) => ({ filename, content_type, base64 }));
  }

  async add(list) {
    const files = [...list].slice(0, MAX_FILES - this.files.length);
    if (list.length > files.length) this.onTooMany(`A message takes at most ${MAX_FILES} files.`);
    this.set([...this.files, ...(await Promise.all(files.map(read)))]);
    this.onChange();
  }

  set(files) {
    this.files = files;
    this.node.hidden = !files.length;
    this.node.replaceChildren(...files.map((file) => this.item(file)));
  }

  item(file) {
    const picture = file.content_type.startsWith("image/");
    const source = `data:${file.content_type};base64,${file.base64}`;
    const take = () => this.set(this.files.filter((one) => one !== file));
    return el("li", {}, [
      picture ? el("img", { src: source, alt: "" }) : icon("file", 40),
      el("span", { class: "tray-name", text: file.filename }),
      el("small", { text: fileSize(file.size) }),
      iconButton("trash", `Remove ${file.filename}`, take),
    ]);
  }
}

function read(file) {
  return new Promise((resolve, reject) => {
    const reader = new FileReader();
    reader.onerror = () => reject(reader.error);
    reader.onload = () => resolve({
      filename: file.name,
      content_type: file.type || "application/octet-stream",
      size: file.size,
      base64: reader.result.slice(reader.result.indexOf(",") + 1),
    });
    reader.readAsDataURL(file);
  });
}
