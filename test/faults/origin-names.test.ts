import assert from "node:assert/strict";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test, type TestContext } from "node:test";
import { EDGE_LIMITS, type EdgeConfig } from "#edge/config.ts";
import { exchangeRaw, httpOrigin, routeOp, startEdge, type TestEdge } from "#edge/testing/edge.ts";
import { recordOp, zoneOp } from "#edge/testing/entries.ts";
import { type ChangingNameserver, startKnot } from "../support/peer-nameservers.ts";
import { toolOrSkip } from "../support/tools.ts";
import { readUntil } from "../support/eventually.ts";

const skip = toolOrSkip("knotd");
const ZONE = "elsewhere.test.";

const zoneText = (serial: number, records: string): string =>
  `$ORIGIN ${ZONE}\n$TTL 1\n@ SOA ns hostmaster ${serial} 60 60 600 1\n@ NS ns\nns A 127.0.0.1\n${records}\n`;

/** A site whose records are aliases of names that another nameserver knows. */
async function site(t: TestContext, records: string, config: Partial<EdgeConfig> = {}) {
  const directory = await mkdtemp(join(tmpdir(), "selvedge-names-"));
  const knot = await startKnot(directory, { [ZONE]: zoneText(1, records) });
  const origin = await httpOrigin((req, res) => res.end(`for ${req.headers.host}`));
  const edge = await startEdge(
    [
      zoneOp("zone", "example.com"),
      ...["origin", "alias", "none", "empty"].map((name) => recordOp(name, "zone", `${name}.example.com`, "CNAME", `${name}.${ZONE}`)),
      routeOp(origin.port),
    ],
    { resolvers: [`127.0.0.1:${knot.port}`], ...config },
    // A nameserver that is not there is told of at once; one on a busy machine may take its time.
    { resolver: { ...EDGE_LIMITS.resolver, timeoutMs: 60_000, lifeMinMs: 20, nothingMs: 20, retryMinMs: 20, retryMaxMs: 20 } },
  );
  t.after(async () => {
    await edge.close();
    origin.close();
    await knot.stop();
    await rm(directory, { recursive: true });
  });
  return { edge, knot };
}

const get = async (edge: TestEdge, name: string): Promise<string> => {
  const response = await exchangeRaw(
    edge.http,
    `GET / HTTP/1.1\r\nHost: ${name}.example.com\r\nConnection: close\r\nAccept: application/json\r\n\r\n`,
  );
  return response.slice(9, 12);
};

/** Asks again until the answer is the one, since what was learnt before is believed for a moment. */
async function becomes(edge: TestEdge, name: string, status: string): Promise<void> {
  await readUntil(
    () => get(edge, name),
    (answer) => answer === status,
  );
}

const change = (knot: ChangingNameserver, serial: number, records: string): Promise<void> =>
  knot.replace({ [ZONE]: zoneText(serial, records) });

test("a name on an external nameserver leads to its origin, through aliases too, and a missing one gives 1016", { skip }, async (t) => {
  const { edge } = await site(t, "origin A 127.0.0.1\nalias CNAME origin\nempty TXT x");
  assert.equal(await get(edge, "origin"), "200");
  assert.equal(await get(edge, "alias"), "200");
  assert.equal(await get(edge, "none"), "530");
  assert.equal(await get(edge, "empty"), "530");
});

test("the edge follows a changed name, and serves with the last good answer while its nameserver is down", { skip }, async (t) => {
  const { edge, knot } = await site(t, "origin A 127.0.0.1");
  assert.equal(await get(edge, "none"), "530");
  await change(knot, 2, "none A 127.0.0.1");
  await becomes(edge, "none", "200");
  await becomes(edge, "origin", "530");
  await knot.stop();
  for (let i = 0; i < 5; i++) {
    assert.equal(await get(edge, "none"), "200");
    await new Promise((done) => setTimeout(done, 30));
  }
  assert.equal(await get(edge, "alias"), "530");
});

test("a name that changes to a forbidden address is refused from then on", { skip }, async (t) => {
  const { edge, knot } = await site(t, "origin A 127.0.0.1", { host: "0.0.0.0", originAllow: ["127.0.0.1/32"] });
  assert.equal(await get(edge, "origin"), "200");
  await change(knot, 2, "origin A 127.0.0.2");
  await becomes(edge, "origin", "403");
  await change(knot, 3, "origin A 127.0.0.1");
  await becomes(edge, "origin", "200");
  await change(knot, 4, "origin AAAA ::ffff:127.0.0.2");
  await becomes(edge, "origin", "403");
  await change(knot, 5, "origin A 169.254.169.254\norigin A 127.0.0.1");
  await becomes(edge, "origin", "200");
  for (let i = 0; i < 4; i++) assert.equal(await get(edge, "origin"), "200", "the one that is not allowed is never tried");
});
