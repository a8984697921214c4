import type { IncomingMessage, Server, ServerResponse } from "node:http";
import type { Socket } from "node:net";

/** No client sends so many requests before it has the answer to the first of them. */
export const REQUESTS_AHEAD_MAX = 32;

/** Delay after our end, so that the last answer arrives before the connection is reset because of unread bytes. */
const LINGER_MS = 2_000;

/** Node's HTTP parser gives each head to this function while it reads. Not documented: without it nothing is limited here. */
interface HeadParser {
  onIncoming?: ((request: IncomingMessage, keepsAlive: boolean) => number) | null;
}

/** The parser takes the connection for upgraded, and leaves the bytes after this head. */
const READ_NO_MORE = 2;

/**
 * Reads no further requests of a connection that has sent too many ahead, and ends it after the answers that are due. Node would read all
 * that has arrived at once, thousands of small requests, before another connection has its turn.
 */
export function limitRequestsAhead(server: Server): void {
  const dueOf = new WeakMap<Socket, Set<ServerResponse>>();
  server.on("setSecureContext" in server ? "secureConnection" : "connection", (socket: Socket) => {
    const parser = (socket as { parser?: HeadParser | null }).parser;
    const read = parser?.onIncoming;
    if (!parser || typeof read !== "function") return;
    const due = new Set<ServerResponse>();
    dueOf.set(socket, due);
    // Node answers some expectations itself, so that their answers are not known here.
    let unknown = 0;
    let isOver = false;
    parser.onIncoming = (request, keepsAlive) => {
      if (isOver || socket.destroyed) return READ_NO_MORE;
      const before = due.size;
      if (before + unknown >= REQUESTS_AHEAD_MAX) {
        isOver = true;
        endAfter(socket, due);
        return READ_NO_MORE;
      }
      const result = read(request, keepsAlive);
      if (due.size === before) unknown++;
      return result;
    };
  });
  server.prependListener("request", ({ socket }, response) => {
    const due = dueOf.get(socket)?.add(response);
    if (due) response.once("close", () => due.delete(response));
  });
}

function endAfter(socket: Socket, due: ReadonlySet<ServerResponse>): void {
  const end = (): void => {
    socket.end();
    setTimeout(() => socket.destroy(), LINGER_MS).unref();
  };
  const last = Array.from(due).at(-1);
  if (last === undefined) end();
  else {
    if (!last.headersSent) last.shouldKeepAlive = false;
    last.once("close", end);
  }
  // The bytes that follow start in the middle of a request, so nobody parses them. The parser has the socket until it returns.
  process.nextTick(() => socket.removeAllListeners("data").on("data", () => undefined));
}
