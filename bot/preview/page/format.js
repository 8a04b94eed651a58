// Words for times, sizes, names and colours, as Discord shows them.

import { nowMs } from "./clock.js";

const EPOCH_MS = 1420070400000n;
const clock = new Intl.DateTimeFormat(undefined, { hour: "numeric", minute: "2-digit" });
const longDate = new Intl.DateTimeFormat(undefined, { day: "numeric", month: "long", year: "numeric" });
const shortDate = new Intl.DateTimeFormat(undefined, { day: "2-digit", month: "2-digit", year: "numeric" });
const full = new Intl.DateTimeFormat(undefined, {
  weekday: "long",
  day: "numeric",
  month: "long",
  year: "numeric",
  hour: "numeric",
  minute: "2-digit",
});
const relative = new Intl.RelativeTimeFormat("en", { numeric: "auto" });

/** Milliseconds since 1970 in which a snowflake was made. */
export function snowflakeMs(id) {
  return Number((BigInt(id) >> 22n) + EPOCH_MS);
}

/** Orders snowflakes, oldest first, without turning each into a BigInt. */
export function compareIds(a, b) {
  return a.length - b.length || (a < b ? -1 : a > b ? 1 : 0);
}

export const clockTime = (date) => clock.format(date);
export const dayName = (date) => longDate.format(date);
export const fullTime = (date) => full.format(date);

/** The stamp beside a name: the time alone for today, else with the day. */
export function messageTime(date, now = new Date(nowMs())) {
  const days = Math.round((new Date(now).setHours(0, 0, 0, 0) - new Date(date).setHours(0, 0, 0, 0)) / 86_400_000);
  if (days === 0) return `Today at ${clock.format(date)}`;
  if (days === 1) return `Yesterday at ${clock.format(date)}`;
  return `${shortDate.format(date)} ${clock.format(date)}`;
}

/** "in 2 minutes", "3 hours ago": rounded to the largest unit of which there is at least one. */
export function relativeTime(date, now = nowMs()) {
  const seconds = Math.round((date.getTime() - now) / 1000);
  const steps = [["second", 1, 60], ["minute", 60, 60], ["hour", 3600, 24], ["day", 86_400, 30], ["month", 2_592_000, 12]];
  for (const [unit, length, most] of steps) {
    const count = Math.round(seconds / length);
    if (Math.abs(count) < most) return relative.format(count, unit);
  }
  return relative.format(Math.round(seconds / 31_536_000), "year");
}

/** A `<t:…:style>` timestamp as text; `style` is one of Discord's letters. */
export function stamp(date, style) {
  switch (style) {
    case "t": return clock.format(date);
    case "T": return date.toLocaleTimeString();
    case "d": return shortDate.format(date);
    case "D": return longDate.format(date);
    case "F": return full.format(date);
    case "R": return relativeTime(date);
    default: return `${longDate.format(date)} ${clock.format(date)}`;
  }
}

export function fileSize(bytes) {
  if (bytes < 1024) return `${bytes} bytes`;
  if (bytes < 1024 * 1024) return `${(bytes / 1024).toFixed(2)} KB`;
  return `${(bytes / 1024 / 1024).toFixed(2)} MB`;
}

/** "#rrggbb" of a Discord colour number; null for 0, which means none. */
export function hexColor(number) {
  return number ? `#${number.toString(16).padStart(6, "0")}` : null;
}

const AVATAR_COLORS = ["#3ba55c", "#c27c0e", "#d83c3e", "#a652bb", "#1f8b9c"];

/** Always the same for an id; `seed.py` gives the people of a new world ids that go through the colours in turn. */
export function avatarColor(id) {
  return AVATAR_COLORS[Number(BigInt(id) % BigInt(AVATAR_COLORS.length))];
}

export function initials(name) {
  const letter = [...name.trim()][0] ?? "?";
  return letter.toUpperCase();
}

/**
 * The path of an address that this server itself serves, else null. Pictures are loaded only from here, so that
 * nothing is ever fetched from outside.
 */
export function localPath(address) {
  if (!address) return null;
  const url = URL.canParse(address, location.href) ? new URL(address, location.href) : null;
  const loopback = url && (url.hostname === location.hostname || ["127.0.0.1", "localhost"].includes(url.hostname));
  return loopback && url.port === location.port && /^https?:$/.test(url.protocol) ? url.pathname + url.search : null;
}
