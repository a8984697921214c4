import { Socket } from "node:net";

/**
 * The buffer that all sockets of a thread read into: each read is consumed before the next one fills it. A separate
 * buffer per read costs a fifth of a small request (http-edge.md).
 */
export const READ_BUFFER = Buffer.allocUnsafeSlow(65_536);

/** Takes `READ_BUFFER[0, length)`, which is valid only during the call. False pauses the socket. */
export type OnRead = (length: number) => boolean;

/**
 * Lets an accepted socket read into the shared buffer from now on. Node.js has the option `onread` for sockets that
 * connect and not for those that a server accepts, so this sets the properties that the option would set (ADR 0017).
 * Returns false and changes nothing if Node.js does not look as expected: then `data` events deliver the bytes, as they
 * always do for bytes that were read before or put back into the socket.
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

/** The symbols under which a socket keeps the option `onread`; null if a version of Node.js has others. */
function findProperties(): Properties | null {
  const callback = (): boolean => true;
  const probe = new Socket({ onread: { buffer: READ_BUFFER, callback } } as object) as unknown as Record<symbol, unknown>;
  const symbols = Object.getOwnPropertySymbols(probe);
  const bufferSymbol = symbols.find((symbol) => probe[symbol] === READ_BUFFER);
  const callbackSymbol = symbols.find((symbol) => probe[symbol] === callback);
  return bufferSymbol === undefined || callbackSymbol === undefined ? null : { buffer: bufferSymbol, callback: callbackSymbol };
}
