import type { End, Transport, TransportHandler } from "#wire/connections/transport/transport.ts";
import { PROXY_HEADER_BYTES_MAX, readProxyHeader } from "#wire/proxy/proxy-header.ts";

/**
 * Reads the PROXY header at the beginning of a load balancer's connection, and puts the other bytes back, for the handler
 * that is attached next. `done` gets the visitor's end; null if the load balancer speaks for itself. Closes connections
 * that do not begin with a header in time.
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
