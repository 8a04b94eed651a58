// The server's time, which /control/clock can move: everything on the page that says "ago" counts from it.

let aheadMs = 0;

/** What time it is for the server, in milliseconds since 1970. */
export const nowMs = () => Date.now() + aheadMs;

/** The server said that it is `ms` now. */
export function setClock(ms) {
  aheadMs = ms - Date.now();
}
