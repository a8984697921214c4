import assert from "node:assert/strict";
import { once } from "node:events";
import { connect, type Socket } from "node:net";
import { test, type TestContext } from "node:test";
import { createCidrSet } from "#kernel/net/cidr.ts";
import { createMetrics } from "#kernel/process/metrics.ts";
import { loadSocketCalls } from "#wire/connections/epoll/socket-calls.ts";
import { SocketLoop } from "#wire/connections/epoll/socket-loop.ts";
import type { Transport, TransportHandler } from "#wire/connections/transport/transport.ts";
import { createConnectionPlaces } from "#kernel/process/connection-places.ts";
import { type ListenOptions, openListener } from "./listener.ts";
import { PATIENCE_MS, eventually } from "../../../test/support/eventually.ts";

const calls = await loadSocketCalls();
const LOOPS: readonly (readonly [who: string, loop: SocketLoop | null])[] = [
  ["Node.js", null],
  ...(calls === null ? [] : [["our own loop", new SocketLoop(calls, (error) => assert.fail(String(error)))] as const]),
];

interface Stage {
  readonly accepted: Transport[];
  readonly port: number;
  open(bytes?: string): Socket;
}

async function start(
  t: TestContext,
  options: Partial<ListenOptions> & Pick<ListenOptions, "loop">,
  limits = { connectionsMax: 0, connectionsPerAddressMax: 0 },
): Promise<Stage> {
  const accepted: Transport[] = [];
  const listener = await openListener({
    host: "127.0.0.1",
    port: 0,
    reusePort: false,
    admission: createConnectionPlaces({
      metrics: createMetrics(),
      clock: { monotonicMs: () => 0 },
      listener: "edge",
      isShared: () => false,
      ...limits,
    }),
    proxies: createCidrSet([]),
    proxyHeaderTimeoutMs: 10_000,
    onConnection: (transport) => {
      accepted.push(transport);
      transport.attach(endsBack(transport));
    },
    ...options,
  });
  t.after(() => {
    listener.close();
    for (const transport of accepted) transport.destroy();
  });
  const open = (bytes = ""): Socket => {
    const socket = connect(listener.port, "127.0.0.1").on("error", () => undefined);
    t.after(() => socket.destroy());
    if (bytes !== "") socket.write(bytes, "latin1");
    return socket.resume();
  };
  return { accepted, open, port: listener.port };
}

/** Ignores all bytes, and ends when the other side does. */
const endsBack = (transport: Transport): TransportHandler => ({
  idleSinceMs: null,
  onBytes: () => undefined,
  onDrain: () => undefined,
  onEnd: () => transport.end(),
  onClosed: () => undefined,
});

async function closed(socket: Socket): Promise<void> {
  if (socket.closed) return;
  const limit = setTimeout(() => socket.destroy(new Error("the connection is still open")), PATIENCE_MS);
  const [hadError] = (await once(socket, "close")) as [boolean];
  clearTimeout(limit);
  assert.ok(!hadError || !socket.errored?.message.includes("still open"));
}

for (const [who, loop] of LOOPS) {
  test(`${who} closes connections beyond a limit at once, and accepts new ones after others close`, async (t) => {
    for (const limits of [
      { connectionsMax: 2, connectionsPerAddressMax: 0 },
      { connectionsMax: 0, connectionsPerAddressMax: 2 },
    ]) {
      const { accepted, open } = await start(t, { loop }, limits);
      const kept = [open(), open()];
      await eventually(() => accepted.length === 2);
      await closed(open());
      assert.equal(accepted.length, 2);
      for (const socket of kept) assert.equal(socket.destroyed, false);
      kept[0]!.destroy();
      accepted[0]!.destroy();
      await eventually(() => {
        if (accepted.length === 2) open();
        return accepted.length > 2;
      });
      assert.equal(accepted.length, 3);
    }
  });

  test(`${who} closes a load balancer's connection that does not begin with a PROXY header, or not in time`, async (t) => {
    const { accepted, open } = await start(t, { loop, proxies: createCidrSet(["127.0.0.0/8"]), proxyHeaderTimeoutMs: 200 });
    for (const bytes of ["", "PROX", "GET / HTTP/1.1\r\n\r\n", "PROXY TCP4 x y 1 2\r\n", "\r\n\r\n\0\r\nQUIT\n\x21\x11\xff\xff"])
      await closed(open(bytes));
    assert.equal(accepted.length, 0);
  });

  test(`${who} accepts connections that arrive together in few ticks`, async (t) => {
    let turn = 0;
    const turns: number[] = [];
    const { open } = await start(t, {
      loop,
      onConnection: (transport) => {
        turns.push(turn);
        transport.attach(endsBack(transport));
      },
    });
    const CONNECTIONS = 128;
    let counting = true;
    const count = (): void => {
      turn++;
      if (counting) setImmediate(count);
    };
    const sockets = Array.from({ length: CONNECTIONS }, () => open());
    count();
    await eventually(() => turns.length === CONNECTIONS);
    counting = false;
    const used = new Set(turns).size;
    assert.ok(used < CONNECTIONS / 3, `it took ${used} turns`);
    for (const socket of sockets) socket.destroy();
  });

  test(`${who} refuses a port that another program listens on, although our own sockets share theirs`, async (t) => {
    const { port } = await start(t, { loop });
    await assert.rejects(start(t, { loop, port }), { code: "EADDRINUSE", syscall: "listen", address: "127.0.0.1", port });
  });
}
