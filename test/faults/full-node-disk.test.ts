import assert from "node:assert/strict";
import { once } from "node:events";
import { cpSync, rmSync } from "node:fs";
import { createServer, get } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { test } from "node:test";
import { text } from "node:stream/consumers";
import { openEventQueries } from "#events/read/queries.ts";
import { succeed } from "../support/api.ts";
import { eventually, readUntil } from "../support/eventually.ts";
import { startFleet } from "../support/fleet.ts";
import type { Selvedge } from "../support/selvedge.ts";
import { fillDisk, smallDisk } from "../support/small-disk.ts";
import { toolOrSkip } from "../support/tools.ts";

const skip = toolOrSkip("nats-server") || toolOrSkip("postgres");
const VISITS = 50;

test("a node with a full disk loses no row of its visits while control is there, says so once, and goes on", { skip }, async (t) => {
  const disk = smallDisk(t, 16);
  if (typeof disk !== "string") return t.skip(disk.skip);
  const origin = createServer((_request, response) => response.end("fine")).listen(0, "127.0.0.1");
  t.after(() => origin.close());
  await once(origin, "listening");
  const world = await startFleet(t);
  const { id: zone } = await succeed(world.call("POST", "/zones", { name: "full.example", account: { id: world.account } }));
  await succeed(world.call("POST", `/zones/${zone}/dns_records`, { type: "A", name: "www", content: "127.0.0.1", proxied: true }));
  const dataDir = join(disk, "state");
  cpSync(await world.join("fra-1", "edge"), dataDir, { recursive: true });
  const node = await world.start(dataDir, { SELVEDGE_EDGE_ORIGIN_PORT: String((origin.address() as AddressInfo).port) });
  await eventually(async () => (await visit(node, "/ready")) === "fine");

  const visits: string[] = [];
  const visitAll = async (round: string): Promise<void> => {
    for (let i = 0; i < VISITS; i++) {
      assert.equal(await visit(node, `/${round}-${i}`), "fine");
      visits.push(`/${round}-${i}`);
    }
  };
  const arrived = (): readonly string[] => {
    const queries = openEventQueries(join(world.controlDir, "events.db"));
    try {
      const paths = queries.list("requests", { where: [], limit: 10_000 }).map(({ path }) => path);
      return paths.filter((path) => path !== "/ready").toSorted();
    } finally {
      queries.close();
    }
  };
  const arrive = async (): Promise<void> =>
    assert.deepEqual(await readUntil(arrived, (paths) => paths.length >= visits.length), visits.toSorted());
  await visitAll("before");
  await arrive();
  fillDisk(join(disk, "filler"));
  for (const round of ["full", "still-full"]) {
    await visitAll(round);
    await arrive();
    fillDisk(join(disk, `filler-${round}`));
  }
  const metrics = await (await fetch(`${node.ready.ops}/metrics`)).text();
  assert.match(metrics, /^selvedge_events_failed_rows_total 0$/m);
  for (const name of ["filler", "filler-full", "filler-still-full"]) rmSync(join(disk, name));
  await visitAll("after");
  await arrive();
  const said = node.log().match(/the disk of events [a-z ]+/g) ?? [];
  assert.deepEqual([said.at(0), said.at(-1)], ["the disk of events is full", "the disk of events has room again"]);
  assert.ok(said.length <= 6, `${said.length} lines`);
});

function visit({ ready }: Selvedge, path: string): Promise<string> {
  const { hostname, port } = new URL(ready.http);
  return new Promise((resolve, reject) => {
    get({ host: hostname, port, path, headers: { host: "www.full.example" } }, (response) => void text(response).then(resolve, reject)).on(
      "error",
      reject,
    );
  });
}
