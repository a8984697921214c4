import { type AddressInfo, connect, createServer } from "node:net";
import { afterEach } from "node:test";
import { NodeTransport } from "#wire/connections/transport/node-transport.ts";
import type { TransportHandler } from "#wire/connections/transport/transport.ts";
import { TunnelSession } from "#wire/tunnel/session.ts";
import type { TunnelStream } from "#wire/tunnel/stream.ts";

const closing: (() => void)[] = [];
afterEach(() => {
  for (const close of closing.splice(0)) close();
});

export interface Side {
  readonly session: TunnelSession;
  readonly streams: TunnelStream[];
  readonly codes: string[];
}

/** Two sides over a socket of loopback: the edge, and the connector that takes its streams. */
export async function pair(): Promise<{ readonly edge: Side; readonly connector: Side }> {
  const server = createServer();
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const arrival = new Promise<NodeTransport>((resolve) => server.once("connection", (socket) => resolve(new NodeTransport(socket))));
  const dialled = new NodeTransport(connect((server.address() as AddressInfo).port, "127.0.0.1"));
  const sideOf = (transport: NodeTransport, takesStreams: boolean): Side => {
    const [streams, codes]: [TunnelStream[], string[]] = [[], []];
    const session = new TunnelSession(transport, {
      ...(takesStreams ? { onStream: (stream: TunnelStream) => void streams.push(stream) } : {}),
      onFrame: () => undefined,
      onChanged: () => undefined,
      onClosed: (code) => void codes.push(code),
    });
    session.start();
    return { session, streams, codes };
  };
  const edge = sideOf(await arrival, false);
  const connector = sideOf(dialled, true);
  closing.push(() => {
    edge.session.destroy("");
    connector.session.destroy("");
    server.close();
  });
  return { edge, connector };
}

/** Notes what a stream brings. */
export function noted(): TransportHandler & { readonly parts: Buffer[]; readonly events: string[] } {
  const [parts, events]: [Buffer[], string[]] = [[], []];
  return {
    ...{ parts, events },
    onConnected: () => void events.push("connected"),
    onBytes: (bytes, length) => void parts.push(Buffer.from(bytes.subarray(0, length))),
    onDrain: () => void events.push("drain"),
    onEnd: () => void events.push("end"),
    onClosed: (code) => void events.push(`closed ${code}`.trim()),
  };
}
