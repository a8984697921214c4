import type { End, Transport, TransportHandler } from "#wire/connections/transport/transport.ts";
import { PROXY_HEADER_BYTES_MAX, readProxyHeader } from "#wire/proxy/proxy-header.ts";

/**
 * Reads the PROXY header that a balancer's connection begins with, and gives the rest back to the connection, which waits to
 * be attached to: `done` gets the visitor's end, null where the balancer speaks for itself. A connection that does
 * not begin with a header in time is closed.
 */
export function acceptProxied(transport: Transport, timeoutMs: number, done: (client: End | null) => void): void {
  const pieces: Buffer[] = [];
  let length = 0;
  let isDone = false;
  const timer = setTimeout(() => transport.destroy(), timeoutMs);
  timer.unref();
  const handler: TransportHandler = {
    onBytes: (buffer, count) => {
      if (isDone) return;
      pieces.push(Buffer.from(buffer.subarray(0, count)));
      length += count;
      const header = readProxyHeader(Buffer.concat(pieces, Math.min(length, PROXY_HEADER_BYTES_MAX)));
      if (header === "incomplete" && length < PROXY_HEADER_BYTES_MAX) return;
      isDone = true;
      clearTimeout(timer);
      if (typeof header === "string") return transport.destroy();
      transport.unread(Buffer.concat(pieces).subarray(header.length));
      done(header.client);
    },
    onDrain: () => undefined,
    onEnd: () => transport.destroy(),
    onClosed: () => clearTimeout(timer),
  };
  transport.attach(handler);
}
