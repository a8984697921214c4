import assert from "node:assert/strict";
import { cpSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { succeed } from "../support/api.ts";
import { askUdp, queryFor } from "../support/dns-client.ts";
import { buildCommit, hasCommit } from "../support/earlier-release.ts";
import { eventually } from "../support/eventually.ts";
import { fleetDirectory, startFleet } from "../support/fleet.ts";
import { api, type Selvedge } from "../support/selvedge.ts";
import { toolOrSkip } from "../support/tools.ts";

/** The release before this one; until there is one, a commit whose edges know no entries of the kind `visitor_keys`. */
const EARLIER = "b3ee379de10a2a48029e7e7e0cc13110750242c1";
const skip =
  toolOrSkip("nats-server") || toolOrSkip("postgres") || (hasCommit(EARLIER) ? false : `the repository does not have ${EARLIER}`);

test("a fleet is upgraded machine by machine: control and nodes of two releases serve each change together", { skip }, async (t) => {
  const earlier = buildCommit(EARLIER, join(fleetDirectory(t, "earlier"), "release"));
  const current = "bin/selvedge.js";
  const world = await startFleet(t, {}, undefined, earlier);
  const zone = await succeed(world.call("POST", "/zones", { name: "rolled.example", account: { id: world.account } }));
  const [fraDir, amsDir] = [await world.join("fra-1", "nameserver,edge"), await world.join("ams-1", "nameserver,edge")];
  let [fra, ams] = [await world.start(fraDir), await world.start(amsDir)];
  const secondDir = fleetDirectory(t, "second");
  cpSync(join(world.controlDir, "seal.key"), join(secondDir, "seal.key"));
  const second = await world.start(secondDir, {
    ...world.env,
    SELVEDGE_DATA: undefined,
    SELVEDGE_ROLES: "control",
    SELVEDGE_BUS_URL: world.nats.url,
  });

  const statuses = async (): Promise<readonly string[]> =>
    ((await succeed(world.call("GET", `/accounts/${world.account}/nodes`))) as { status: string }[]).map(({ status }) => status);
  const answers = async ({ ready }: Selvedge, name: string): Promise<string> => {
    const [reply] = await askUdp(Number(new URL(`udp://${ready.dns}`).port), [queryFor(name, 1, 1)]);
    return reply?.subarray(-4).join(".") ?? "";
  };
  let written = 0;
  /** A change by each control is with both nodes when the API responds. */
  const serves = async (): Promise<void> => {
    await eventually(async () => (await statuses()).join() === "connected,connected");
    const records = `/zones/${zone.id}/dns_records`;
    for (const call of [world.call, (method: string, path: string, body?: object) => api(second, world.token, method, path, body)]) {
      const [name, content] = [`n${++written}.rolled.example`, `192.0.2.${written}`];
      const made = await call("POST", records, { type: "A", name, content, ttl: 300 });
      assert.equal(made.status, 200, JSON.stringify(made.body));
      assert.deepEqual(made.body.messages, []);
      for (const node of [fra, ams]) assert.equal(await answers(node, name), content);
    }
  };

  await serves();
  await fra.stop();
  fra = await world.start(fraDir, {}, current);
  await serves();
  await world.restartControl(current);
  await serves();
  await ams.stop();
  ams = await world.start(amsDir, {}, current);
  await serves();
  for (const node of [fra, ams, second]) assert.doesNotMatch(node.log(), /"level":"(error|fatal)"/);
});
