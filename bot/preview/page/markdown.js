// Discord's markdown as a tree. Pure: text in, plain objects out, nothing of the document is touched.
//
// Blocks: {type: text|heading|subtext|quote|list|code}. Inlines: {type: text|bold|italic|underline|strike|spoiler|
// inlineCode|link|user|role|channel|everyone|slash|emoji|time}.

const MAX_DEPTH = 12; // hostile nesting becomes plain text instead of a deep recursion
const FENCE = /```(?:([\w+#.-]*)\n)?([\s\S]+?)\n?```/y;
const HEADING = /(#{1,3}) +([^\n]+)(?:\n|$)/y;
const SUBTEXT = /-# +([^\n]+)(?:\n|$)/y;
const ITEM = /^( *)([-*]|\d{1,9}\.) +(.*)$/;
const URL_AT = /https?:\/\/[^\s<]+/y;
const ANGLE = /<(?:(@!?|@&|#)(\d{1,20})|(a?):(\w{2,32}):(\d{1,20})|t:(-?\d{1,13})(?::([tTdDfFR]))?|\/([^:<>\n]{1,100}):(\d{1,20})|(https?:\/\/[^\s>]+))>/y;
const MASKED = /\[((?:\\.|[^\]\\\n])+)\]\(<?(https?:\/\/[^\s<>]+?)>?(?: +"[^"\n]*")?\)/y;
const EVERYONE = /@(everyone|here)\b/y;

/** Parses a whole message or embed text into blocks. */
export function parse(source, depth = 0) {
  const blocks = [];
  let text = "";
  let at = 0;
  const flush = () => {
    if (text) blocks.push({ type: "text", children: parseInline(text, depth + 1) });
    text = "";
  };
  while (at < source.length) {
    const lineStart = at === 0 || source[at - 1] === "\n";
    const found = (lineStart && blockAt(source, at, depth)) || fenceAt(source, at);
    if (found) {
      flush();
      blocks.push(found.block);
      at = found.end;
      continue;
    }
    const end = plainEnd(source, at);
    text += source.slice(at, end);
    at = end;
  }
  flush();
  return blocks;
}

/** Where plain text from `at` goes on to: the next place at which a block could start. */
function plainEnd(source, at) {
  if (source[at] === "\\" && at + 1 < source.length) return at + 2;
  if (source[at] === "`") return codeSpanEnd(source, at) ?? at + backticks(source, at);
  let end = at + 1;
  while (end < source.length && source[end - 1] !== "\n" && source[end] !== "`" && source[end] !== "\\") end += 1;
  return end;
}

function fenceAt(source, at) {
  const match = matchAt(FENCE, source, at);
  if (!match) return null;
  const end = FENCE.lastIndex + (source[FENCE.lastIndex] === "\n" ? 1 : 0);
  return { block: { type: "code", language: match[1] ?? "", text: match[2].replace(/^\n+/, "") }, end };
}

function blockAt(source, at, depth) {
  if (depth > MAX_DEPTH) return null;
  let match = matchAt(HEADING, source, at);
  if (match) return {
    block: { type: "heading", level: match[1].length, children: parseInline(match[2], depth + 1) },
    end: HEADING.lastIndex,
  };
  match = matchAt(SUBTEXT, source, at);
  if (match) return {
    block: { type: "subtext", children: parseInline(match[1], depth + 1) },
    end: SUBTEXT.lastIndex,
  };
  if (source.startsWith(">>> ", at)) return {
    block: { type: "quote", children: parse(source.slice(at + 4), depth + 1) },
    end: source.length,
  };
  if (source.startsWith("> ", at)) return quoteAt(source, at, depth);
  return listAt(source, at, depth);
}

function* linesFrom(source, at) {
  while (at < source.length) {
    const newline = source.indexOf("\n", at);
    const end = newline < 0 ? source.length : newline;
    yield { text: source.slice(at, end), next: newline < 0 ? end : end + 1 };
    at = newline < 0 ? end : end + 1;
  }
}

function quoteAt(source, at, depth) {
  const lines = [];
  let end = at;
  for (const line of linesFrom(source, at)) {
    if (!line.text.startsWith("> ") && line.text !== ">") break;
    lines.push(line.text.slice(2));
    end = line.next;
  }
  return { block: { type: "quote", children: parse(lines.join("\n"), depth + 1) }, end };
}

function listAt(source, at, depth) {
  const items = [];
  let end = at;
  for (const line of linesFrom(source, at)) {
    const match = ITEM.exec(line.text);
    const continues = items.length > 0 && /^ {2,}\S/.test(line.text);
    const ordered = match ? /\d/.test(match[2]) : false;
    if (match && items.length && match[1].length === items[0].indent && ordered !== items[0].ordered) break;
    if (match && match[3]) items.push({
      indent: match[1].length,
      ordered,
      start: parseInt(match[2], 10) || 1,
      text: match[3],
    });
    else if (continues) items[items.length - 1].text += `\n${line.text.trim()}`;
    else break;
    end = line.next;
  }
  if (!items.length || items.some((item) => item.text.includes("```"))) return null;
  return { block: nest(items, 0, depth).list, end };
}

/** Folds items with indents into nested lists; deeper indent than its neighbour is one level down. */
function nest(items, from, depth) {
  const first = items[from];
  const list = { type: "list", ordered: first.ordered, start: first.start, items: [] };
  let index = from;
  while (index < items.length && items[index].indent >= first.indent) {
    const item = items[index];
    if (item.indent > first.indent && list.items.length && depth < MAX_DEPTH) {
      const inner = nest(items, index, depth + 1);
      list.items[list.items.length - 1].push(inner.list);
      index = inner.next;
    } else {
      list.items.push([{ type: "text", children: parseInline(item.text, depth + 1) }]);
      index += 1;
    }
  }
  return { list, next: index };
}

/** Parses text without blocks: what a field's name, a button's text or a heading may hold. */
export function parseInline(source, depth = 0) {
  const nodes = [];
  let text = "";
  let at = 0;
  const push = (node, end) => {
    if (text) nodes.push({ type: "text", text });
    text = "";
    nodes.push(node);
    at = end;
  };
  while (at < source.length) {
    const found = depth > MAX_DEPTH ? null : inlineAt(source, at, depth);
    if (found) push(found.node, found.end);
    else if (source[at] === "\\" && /[^0-9A-Za-z\s]/.test(source[at + 1] ?? " ")) {
      text += source[at + 1];
      at += 2;
    } else if (source[at] === "`") {
      const run = backticks(source, at);
      text += "`".repeat(run);
      at += run;
    } else {
      const end = nextSpecial(source, at + 1);
      text += source.slice(at, end);
      at = end;
    }
  }
  if (text) nodes.push({ type: "text", text });
  return nodes;
}

function nextSpecial(source, at) {
  while (at < source.length && !"\\`*_~|<[h@".includes(source[at])) at += 1;
  return at;
}

function inlineAt(source, at, depth) {
  switch (source[at]) {
    case "`": return codeSpan(source, at);
    case "<": return angle(source, at);
    case "[": return masked(source, at, depth);
    case "h": return /\w/.test(source[at - 1] ?? " ") ? null : bareLink(source, at);
    case "@": return wrap(matchAt(EVERYONE, source, at), (m) => ({ type: "everyone", name: m[1] }), EVERYONE);
    case "*": return span(source, at, "**", "bold", depth) ?? span(source, at, "*", "italic", depth);
    case "_": return span(source, at, "__", "underline", depth) ?? span(source, at, "_", "italic", depth);
    case "~": return span(source, at, "~~", "strike", depth);
    case "|": return span(source, at, "||", "spoiler", depth);
    default: return null;
  }
}

function span(source, at, mark, type, depth) {
  if (!source.startsWith(mark, at)) return null;
  const single = mark.length === 1;
  const from = at + mark.length;
  if (single && /\s/.test(source[from] ?? " ")) return null;
  if (mark === "_" && /\w/.test(source[at - 1] ?? " ")) return null;
  let end = from;
  while (end < source.length) {
    if (source[end] === "\\") end += 2;
    else if (source[end] === "`") end = codeSpanEnd(source, end) ?? end + backticks(source, end);
    else if (single && source.startsWith(mark + mark, end) && source[end + 2] !== mark) end += 2;
    else if (source.startsWith(mark, end) && end > from && closes(source, end, mark)) {
      return {
        node: { type, children: parseInline(source.slice(from, end), depth + 1) },
        end: end + mark.length,
      };
    } else end += 1;
  }
  return null;
}

/** Whether `mark` at `end` may close a span: the last of a run, and not after a space or inside a word. */
function closes(source, end, mark) {
  const after = source[end + mark.length] ?? " ";
  if (mark !== "||" && mark !== "~~" && after === mark[0]) return false;
  if (mark === "*") return !/\s/.test(source[end - 1]);
  return mark !== "_" || !/\w/.test(after);
}

function backticks(source, at) {
  let end = at;
  while (source[end] === "`") end += 1;
  return end - at;
}

function codeSpanEnd(source, at) {
  const run = backticks(source, at);
  for (let end = at + run; end < source.length; ) {
    const next = source.indexOf("`", end);
    if (next < 0) return null;
    const length = backticks(source, next);
    if (length === run) return next + run;
    end = next + length;
  }
  return null;
}

function codeSpan(source, at) {
  const end = codeSpanEnd(source, at);
  if (end === null) return null;
  const run = backticks(source, at);
  return {
    node: { type: "inlineCode", text: source.slice(at + run, end - run).replace(/^ (?=`)|(?<=`) $/g, "") },
    end,
  };
}

function angle(source, at) {
  return wrap(matchAt(ANGLE, source, at), (m) => {
    if (m[2]) return { type: m[1] === "@&" ? "role" : m[1] === "#" ? "channel" : "user", id: m[2] };
    if (m[4]) return { type: "emoji", name: m[4], id: m[5], animated: m[3] === "a" };
    if (m[6]) return { type: "time", seconds: Number(m[6]), style: m[7] ?? "f" };
    if (m[8]) return { type: "slash", name: m[8] };
    return { type: "link", href: m[10], children: [{ type: "text", text: m[10] }] };
  }, ANGLE);
}

function masked(source, at, depth) {
  return wrap(
    matchAt(MASKED, source, at),
    (m) => ({ type: "link", href: m[2], masked: true, children: parseInline(m[1], depth + 1) }),
    MASKED,
  );
}

function bareLink(source, at) {
  const match = matchAt(URL_AT, source, at);
  if (!match) return null;
  let href = match[0].replace(/[.,:;!?"'*_~|\]]+$/, "");
  while (href.endsWith(")") && href.split(")").length > href.split("(").length) href = href.slice(0, -1);
  return href.length > "https://".length ? {
    node: { type: "link", href, children: [{ type: "text", text: href }] },
    end: at + href.length,
  } : null;
}

function matchAt(pattern, source, at) {
  pattern.lastIndex = at;
  return pattern.exec(source);
}

function wrap(match, build, pattern) {
  return match && { node: build(match), end: pattern.lastIndex };
}
