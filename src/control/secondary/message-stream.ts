import { PendingBytes } from "#wire/http/pending-bytes.ts";
import { once } from "node:events";
import { connect } from "node:net";
import { isGlobalAddress } from "#kernel/net/ip-class.ts";
import { HEADER_BYTES } from "#wire/dns/codes.ts";
import { TransferError } from "#wire/dns/transfer-reader.ts";
import { type AheadMemory, type ReadAhead, readAhead } from "./read-ahead.ts";

export interface StreamLimits {
  /** Milliseconds for connecting, and between two arrivals of data. */
  readonly idleTimeoutMs: number;
  /** Milliseconds in total. */
  readonly totalTimeoutMs: number;
  readonly bytesMax: number;
}

/** DNS messages over one TCP connection (RFC 7766). Throws TransferError, also if a limit is exceeded. */
export interface MessageStream {
  send(message: Uint8Array): void;
  next(): Promise<Buffer>;
  close(): void;
}

const LENGTH_BYTES = 2;

export async function openMessageStream(
  to: { readonly address: string; readonly port: number },
  limits: StreamLimits,
  memory: AheadMemory,
  signal: AbortSignal,
): Promise<MessageStream> {
  const socket = connect({ host: to.address, port: to.port, noDelay: true });
  const isGlobal = isGlobalAddress(to.address);
  /** Whether the data received so far looks like DNS messages, judged by its length. */
  let hasAnswered = false;
  const fail = (message: string): void => void socket.destroy(new TransferError(message));
  const told = (error: unknown): unknown => (isGlobal || hasAnswered ? explained(error) : silent(error));
  socket.setTimeout(limits.idleTimeoutMs, () =>
    fail(isGlobal || hasAnswered ? `no response within ${limits.idleTimeoutMs / 1000} s` : SILENT),
  );
  /** A paused socket receives nothing, whatever its server does. */
  const onPause = (paused: boolean): void => void socket.setTimeout(paused ? 0 : limits.idleTimeoutMs);
  const total = setTimeout(() => fail(`not complete within ${limits.totalTimeoutMs / 1000} s`), limits.totalTimeoutMs);
  const abort = (): void => fail("the server is shutting down");
  signal.addEventListener("abort", abort, { once: true });
  const close = (): void => {
    clearTimeout(total);
    signal.removeEventListener("abort", abort);
    socket.destroy();
  };
  // The reader gets errors with the bytes; before it begins, this listener prevents an uncaught error.
  socket.on("error", () => undefined);
  try {
    await once(socket, "connect", { signal });
  } catch (error) {
    close();
    throw told(error);
  }
  const messages = read(readAhead(socket, memory, onPause), limits.bytesMax);
  return {
    send: (message) => {
      const length = Buffer.alloc(LENGTH_BYTES);
      length.writeUInt16BE(message.length);
      socket.write(Buffer.concat([length, message]));
    },
    next: async () => {
      try {
        const { value, done } = await messages.next();
        if (done === true) throw new TransferError(isGlobal || hasAnswered ? CLOSED : SILENT);
        hasAnswered = true;
        return value;
      } catch (error) {
        throw told(error);
      }
    },
    close,
  };
}

async function* read(source: ReadAhead, bytesMax: number): AsyncGenerator<Buffer, undefined> {
  const pending = new PendingBytes();
  let received = 0;
  for (let chunk = await source.next(); chunk; chunk = await source.next()) {
    received += chunk.length;
    if (received > bytesMax) throw new TransferError(`the response is longer than ${bytesMax} bytes`);
    // Appended bytes are never overwritten, so messages stay valid.
    pending.append(chunk, 0, chunk.length);
    for (;;) {
      const bytes = pending.buffer.subarray(pending.start, pending.end);
      const length = lengthOf(bytes);
      if (length > bytes.length) break;
      if (length < LENGTH_BYTES + HEADER_BYTES) throw new TransferError(SHORT);
      pending.start += length;
      yield bytes.subarray(LENGTH_BYTES, length);
    }
  }
  return undefined;
}

/** Length of the message including its length field; infinite until that has arrived. */
const lengthOf = (bytes: Buffer): number => (bytes.length < LENGTH_BYTES ? Number.POSITIVE_INFINITY : LENGTH_BYTES + bytes.readUInt16BE(0));

/** Translates a connection error for the zone's status. */
function explained(error: unknown): unknown {
  const { code, name } = error as NodeJS.ErrnoException;
  if (name === "AbortError") return new TransferError("the server is shutting down");
  return typeof code === "string" && /^E[A-Z]+$/.test(code)
    ? new TransferError(`the connection failed: ${REASONS.get(code) ?? code}`)
    : error;
}

/** The same message for a refused, silent, closed or different protocol, so that callers learn nothing about private networks. */
const SILENT = "it sent no DNS response: nothing listens there, it uses another protocol, or it takes too long";

/** The error for an address in a private network, before a DNS message has arrived. */
function silent(error: unknown): unknown {
  const { code, name, message } = error as NodeJS.ErrnoException;
  if (name === "AbortError") return explained(error);
  return message === SHORT || (typeof code === "string" && /^E[A-Z]+$/.test(code)) ? new TransferError(SILENT) : error;
}

const SHORT = "a message is shorter than a DNS header";
const CLOSED = "the connection was closed before the response was complete";

const REASONS: ReadonlyMap<string, string> = new Map([
  ["ECONNREFUSED", "nothing listens there"],
  ["ECONNRESET", "the server reset it"],
  ["EPIPE", "the server reset it"],
  ["EHOSTUNREACH", "the host cannot be reached"],
  ["ENETUNREACH", "the network cannot be reached"],
  ["ETIMEDOUT", "it timed out"],
]);
