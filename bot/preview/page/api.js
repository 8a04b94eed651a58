// The page's side of /control: JSON calls, and the stream of everything that changed.

/** An answer of the server that says no; `message` is its sentence. */
export class ApiError extends Error {}

async function call(method, path, body) {
  let answer;
  try {
    answer = await fetch(`/control${path}`, {
      method,
      headers: body === undefined ? {} : { "Content-Type": "application/json" },
      body: body === undefined ? undefined : JSON.stringify(body),
    });
  } catch {
    throw new ApiError("The preview server does not answer. Is it still running?");
  }
  const text = await answer.text();
  const value = text ? parse(text) : null;
  if (!answer.ok) throw new ApiError(value?.error ?? `The preview server answered ${answer.status}.`);
  return value;
}

function parse(text) {
  try {
    return JSON.parse(text);
  } catch {
    return null;
  }
}

const query = (values) => new URLSearchParams(values).toString();

export const api = {
  world: () => call("GET", "/world"),
  messages: (channel, viewer) => call("GET", `/messages?${query({ channel, viewer })}`),
  send: (message) => call("POST", "/messages", message),
  edit: (id, author, content) => call("PATCH", `/messages/${id}`, { author, content }),
  remove: (id, author) => call("DELETE", `/messages/${id}?${query({ author })}`),
  react: (reaction) => call("POST", "/reactions", reaction),
  click: (click) => call("POST", "/click", click),
  modal: (submit) => call("POST", "/modal", submit),
  command: (command) => call("POST", "/command", command),
};

/**
 * Follows the event stream. `onEvent(event)` for each change; `onState("open" | "broken")` when the stream
 * starts or breaks. The browser's own retry gives up on an HTTP error, so a closed stream is opened anew.
 */
export function follow(onEvent, onState) {
  let source;
  const open = () => {
    source = new EventSource("/control/events");
    source.onopen = () => onState("open");
    source.onmessage = (event) => onEvent(JSON.parse(event.data));
    source.onerror = () => {
      onState("broken");
      if (source.readyState === EventSource.CLOSED) setTimeout(open, 1000);
    };
  };
  open();
  return () => source.close();
}
