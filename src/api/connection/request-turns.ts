import type { IncomingMessage, RequestListener, ServerResponse } from "node:http";
import type { Socket } from "node:net";

/** Bound where Node's parser cannot be stopped earlier. */
const AHEAD_MAX = 100;

/**
 * Begins a request of a connection once the one before has its response, in a later tick, so that requests of other connections come
 * between those that a client sends at once. `limitRequestsAhead` bounds how many wait, where it can.
 */
export function inTurns(handler: RequestListener): RequestListener {
  const ahead = new WeakMap<Socket, (() => void)[]>();
  const begin = (req: IncomingMessage, res: ServerResponse, waiting: (() => void)[]): void => {
    res.once("close", () => {
      const next = waiting.shift();
      if (next === undefined) ahead.delete(req.socket);
      else setImmediate(() => void (req.socket.destroyed || next()));
    });
    handler(req, res);
  };
  return (req, res) => {
    const { socket } = req;
    if (socket.destroyed) return;
    const waiting = ahead.get(socket);
    if (waiting === undefined) {
      const mine: (() => void)[] = [];
      ahead.set(socket, mine);
      begin(req, res, mine);
    } else if (waiting.length < AHEAD_MAX) waiting.push(() => begin(req, res, waiting));
    else socket.destroy();
  };
}
