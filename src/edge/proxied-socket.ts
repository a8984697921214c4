import type { Socket } from "node:net";
import { PROXY_HEADER_BYTES_MAX, readProxyHeader } from "#wire/proxy/proxy-header.ts";

/**
 * Reads the PROXY header that a balancer's connection begins with, and gives the rest back to the socket, which is then
 * paused: `done` gets the visitor's address, null where the balancer speaks for itself. A connection that does not
 * begin with a header in time is closed.
 */
export function readProxySocket(socket: Socket, timeoutMs: number, done: (clientIp: string | null) => void): void {
  const pieces: Buffer[] = [];
  let length = 0;
  const stop = (): void => {
    clearTimeout(timer);
    socket.off("data", read).off("error", ignore).off("end", refuse).off("close", stop);
  };
  const refuse = (): void => {
    stop();
    socket.on("error", ignore);
    socket.destroy();
  };
  const read = (piece: Buffer): void => {
    pieces.push(piece);
    length += piece.length;
    const bytes = Buffer.concat(pieces, Math.min(length, PROXY_HEADER_BYTES_MAX));
    const header = readProxyHeader(bytes);
    if (header === "incomplete" && length < PROXY_HEADER_BYTES_MAX) return;
    if (typeof header === "string") return refuse();
    stop();
    socket.pause();
    const rest = Buffer.concat(pieces).subarray(header.length);
    if (rest.length > 0) socket.unshift(rest);
    done(header.clientIp);
  };
  const timer = setTimeout(refuse, timeoutMs);
  timer.unref();
  socket.on("data", read).on("error", ignore).on("end", refuse).on("close", stop);
}

const ignore = (): void => undefined;
