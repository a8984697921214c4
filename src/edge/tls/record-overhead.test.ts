import assert from "node:assert/strict";
import { once } from "node:events";
import { type AddressInfo, createServer, type Socket } from "node:net";
import { test } from "node:test";
import { connect, createServer as createTlsServer, type TLSSocket } from "node:tls";
import { createLocalCa, createRoot } from "#acme/local-ca.ts";
import { systemClock } from "#kernel/clock.ts";
import type { Checked } from "#kernel/timers.ts";
import { eventually } from "../../../test/support/eventually.ts";
import { connectKeyUpdater } from "../../../test/support/key-updates.ts";
import { RecordOverhead } from "./record-overhead.ts";

const NAME = "www.example.com";

test("TLS of Node.js: a client may send small records and key updates with its data, and many records without data end the connection", async (t) => {
  const { chain, privateKey } = await createLocalCa({ root: await createRoot(systemClock), clock: systemClock }).issue([NAME]);
  const checked = new Set<Checked>();
  const timers = {
    nowMs: 0,
    measureMs: () => 0,
    add: (one: Checked) => void checked.add(one),
    remove: (one: Checked) => void checked.delete(one),
    close: () => undefined,
  };
  const check = (): void => checked.forEach((one) => one.check(0));
  const arrived: { readonly below: Socket; readonly above: TLSSocket }[] = [];
  let below: Socket | null = null;
  const secure = createTlsServer({ cert: chain, key: privateKey }, (above) => {
    above.on("error", () => undefined).resume();
    new RecordOverhead(below!, above, timers);
    arrived.push({ below: below!, above });
  });
  const server = createServer((socket) => {
    below = socket.on("error", () => undefined);
    secure.emit("connection", socket);
  }).listen(0, "127.0.0.1");
  await once(server, "listening");
  t.after(() => server.close());
  const { port } = server.address() as AddressInfo;

  const good = connect({ port, servername: NAME, rejectUnauthorized: false });
  t.after(() => good.destroy());
  await eventually(() => arrived.length === 1);
  for (let i = 0; i < 8_000; i++) await new Promise((done) => good.write(".", done));
  await eventually(() => arrived[0]!.above.bytesRead === 8_000);
  assert.ok(arrived[0]!.below.bytesRead > 160_000, `each byte is a record: ${arrived[0]!.below.bytesRead} came`);
  check();
  good.write("x".repeat(1_000_000));
  await eventually(() => arrived[0]!.above.bytesRead === 1_008_000);
  check();
  assert.equal(arrived[0]!.above.destroyed, false);

  const updater = await connectKeyUpdater(port, NAME);
  t.after(() => updater.socket.destroy());
  await eventually(() => arrived.length === 2);
  const far = arrived[1]!;
  const change = async (count: number): Promise<void> => {
    const before = far.below.bytesRead;
    const bytes = updater.keyUpdates(count);
    updater.socket.write(bytes);
    await eventually(() => far.below.bytesRead - before >= bytes.length);
    check();
  };
  await change(20);
  await change(1_000);
  assert.equal(far.above.destroyed, false);
  await change(6_000);
  assert.equal(far.above.destroyed, true);
  await eventually(() => checked.size === 1);
});
