import { Socket } from "node:net";

/**
 * What sockets of a thread read into, all the same buffer: what came is consumed before the next read fills it. A buffer
 * of its own for each read costs a fifth of what a small request costs in all (http-edge.md).
 */
export const READ_BUFFER = Buffer.allocUnsafeSlow(65_536);

/** Takes `READ_BUFFER[0, length)`, which is good only during the call. False pauses the socket. */
export type OnRead = (length: number) => boolean;

/**
 * Lets an accepted socket read into the shared buffer from now on. Node.js offers that for sockets that connect (the
 * option `onread`) and not for those that a server accepts, so what the option would have set is set here (ADR 0017).
 * False where Node.js does not look as expected, and nothing was changed: then `data` brings the bytes, as it
 * does bring those that were read before or given back to the socket.
 */
export function readShared(socket: Socket, onRead: OnRead): boolean {
  const internals = socket as unknown as Record<symbol | "_handle", unknown>;
  const { _handle: handle } = internals as { readonly _handle?: { useUserBuffer?: unknown } | null };
  if (PROPERTIES === null || handle === null || handle === undefined || typeof handle.useUserBuffer !== "function") return false;
  internals[PROPERTIES.buffer] = READ_BUFFER;
  internals[PROPERTIES.callback] = onRead;
  handle.useUserBuffer(READ_BUFFER);
  return true;
}

interface Properties {
  readonly buffer: symbol;
  readonly callback: symbol;
}

const PROPERTIES = findProperties();

/** Where a socket keeps what the option `onread` says. */
function findProperties(): Properties | null {
  const callback = (): boolean => true;
  const probe = new Socket({ onread: { buffer: READ_BUFFER, callback } } as object) as unknown as Record<symbol, unknown>;
  const symbols = Object.getOwnPropertySymbols(probe);
  const bufferSymbol = symbols.find((symbol) => probe[symbol] === READ_BUFFER);
  const callbackSymbol = symbols.find((symbol) => probe[symbol] === callback);
  return bufferSymbol === undefined || callbackSymbol === undefined ? null : { buffer: bufferSymbol, callback: callbackSymbol };
}
