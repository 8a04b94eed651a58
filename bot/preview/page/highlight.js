// A light colouring of code. `highlight(text, language)` gives [class, text] pairs whose texts join to the input.

const KEYWORDS = {
  python:
    "and as assert async await break case class continue def del elif else except finally for from " +
    "global if import in is lambda match nonlocal not or pass raise return try while with yield self",
  js:
    "async await break case catch class const continue default delete do else export extends finally " +
    "for from function if import in instanceof interface let new of return static super switch this " +
    "throw try type typeof var void while yield",
  bash:
    "case do done elif else esac export fi for function if in local return then until while cd echo " +
    "exit set source sudo",
  sql:
    "select from where insert into values update set delete create table drop alter join left right " +
    "inner on as and or not null order by group having limit index primary key",
  c:
    "auto bool break case char class const continue default do double else enum extern float fn for " +
    "func go if impl import int let long match mod mut namespace package private pub public return " +
    "short signed sizeof static struct switch trait type typedef union unsigned use using void while",
};
const LITERALS = new Set("true false null undefined None True False nil NaN NULL".split(" "));
const ALIASES = {
  py: "python", python: "python",
  js: "js", javascript: "js", jsx: "js", ts: "js", typescript: "js", tsx: "js", mjs: "js",
  json: "json", jsonc: "json", sh: "bash", bash: "bash", zsh: "bash", shell: "bash", console: "bash", sql: "sql",
  c: "c", cpp: "c", "c++": "c", rs: "c", rust: "c", go: "c", java: "c", cs: "c", kotlin: "c", swift: "c",
  diff: "diff", patch: "diff", ansi: "ansi", yaml: "ini", yml: "ini", toml: "ini", ini: "ini", env: "ini",
};

const HASH = "#[^\\n]*";
const SLASH = "\\/\\/[^\\n]*|\\/\\*[\\s\\S]*?\\*\\/";
const COMMENTS = { python: HASH, bash: HASH, ini: HASH, js: SLASH, c: SLASH, json: SLASH, sql: "--[^\\n]*" };
const STRINGS = {
  python: "\"\"\"[\\s\\S]*?(?:\"\"\"|$)|'''[\\s\\S]*?(?:'''|$)|\"(?:\\\\.|[^\"\\\\\\n])*\"?|'(?:\\\\.|[^'\\\\\\n])*'?",
  js: "`(?:\\\\[\\s\\S]|[^`\\\\])*`?|\"(?:\\\\.|[^\"\\\\\\n])*\"?|'(?:\\\\.|[^'\\\\\\n])*'?",
};
const PLAIN_STRINGS = "\"(?:\\\\.|[^\"\\\\\\n])*\"?|'(?:\\\\.|[^'\\\\\\n])*'?";

/** The colouring that a fence's language stands for, or null. */
export function languageOf(name) {
  return ALIASES[name.toLowerCase()] ?? null;
}

export function highlight(text, name) {
  const language = languageOf(name);
  if (language === "diff") return diff(text);
  if (language === "ansi") return ansi(text);
  return language ? tokens(text, language) : [["", text]];
}

function tokens(text, language) {
  const words = new Set((KEYWORDS[language] ?? "").split(" "));
  const pattern = new RegExp(
    [
      `(?<comment>${COMMENTS[language]})`,
      `(?<string>${STRINGS[language] ?? PLAIN_STRINGS})`,
      "(?<number>\\b\\d[\\w.]*)",
      "(?<meta>[@$][\\w{]\\w*\\}?)",
      "(?<word>[A-Za-z_]\\w*)",
    ].join("|"),
    language === "sql" ? "gi" : "g",
  );
  const out = [];
  let at = 0;
  for (const match of text.matchAll(pattern)) {
    if (match.index > at) out.push(["", text.slice(at, match.index)]);
    at = match.index + match[0].length;
    out.push([kindOf(match, text, at, words, language), match[0]]);
  }
  if (at < text.length) out.push(["", text.slice(at)]);
  return out;
}

function kindOf(match, text, end, words, language) {
  const { comment, string, number, meta, word } = match.groups;
  if (comment !== undefined) return "comment";
  const isKey = (language === "json" || language === "ini") && /^\s*:/.test(text.slice(end, end + 20));
  if (string !== undefined) return isKey ? "key" : "string";
  if (number !== undefined) return "number";
  if (meta !== undefined) return "meta";
  if (LITERALS.has(word)) return "number";
  if (words.has(language === "sql" ? word.toLowerCase() : word)) return "keyword";
  if (language === "ini" && /^[\w.-]*\s*[:=]/.test(text.slice(end, end + 40))) return "key";
  return text[end] === "(" ? "title" : "";
}

function diff(text) {
  return text.split(/(?<=\n)/).map((line) => {
    if (/^(?:\+\+\+|---|@@|diff |index )/.test(line)) return ["meta", line];
    return [line.startsWith("+") ? "added" : line.startsWith("-") ? "removed" : "", line];
  });
}

/** Discord's `ansi` fences: bold, underline, eight colours and backgrounds; other escapes are swallowed. */
function ansi(text) {
  const out = [];
  let classes = [];
  for (const piece of text.split(/(\u001b\[[\d;]*m)/)) {
    const match = /^\u001b\[([\d;]*)m$/.exec(piece);
    if (!match) {
      if (piece) out.push([classes.join(" "), piece]);
      continue;
    }
    for (const code of match[1].split(";").map(Number)) classes = withCode(classes, code);
  }
  return out;
}

function withCode(classes, code) {
  if (code === 0) return [];
  if (code === 1) return [...classes, "ansi-bold"];
  if (code === 4) return [...classes, "ansi-underline"];
  const family = code >= 30 && code <= 37 ? "ansi-fg" : code >= 40 && code <= 47 ? "ansi-bg" : null;
  return family ? [...classes.filter((name) => !name.startsWith(family)), `${family}-${code % 10}`] : classes;
}
