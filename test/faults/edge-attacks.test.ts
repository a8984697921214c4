import assert from "node:assert/strict";
import { test } from "node:test";
import { exchangeRaw, httpOrigin, siteOps, startEdge } from "#edge/testing/edge.ts";
import { eventually } from "../support/eventually.ts";
import { attackSlowly, SLOW_ATTACKS, type SlowAttack } from "../support/slow-attacks.ts";
import { toolOrSkip } from "../support/tools.ts";

const CONNECTIONS = 40;
const SECONDS = 8;
const GOOD = "GET /good HTTP/1.1\r\nHost: www.example.com\r\nConnection: close\r\n\r\n";

test(
  "during slow heads, bodies, readers and ranges every good request is served, and attackers lose their connections",
  { skip: toolOrSkip("slowhttptest") },
  async () => {
    const origin = await httpOrigin((req, res) =>
      req.resume().on("end", () => res.end(req.url === "/good" ? "fine" : "x".repeat(1_000_000))),
    );
    const limits = { headTimeoutMs: 1500, bodyWindowMs: 1500, progressWindowMs: 2000, idleTimeoutMs: 2000 };
    const edge = await startEdge(siteOps(origin.port), {}, limits);
    const attacks = (Object.keys(SLOW_ATTACKS) as SlowAttack[]).map(async (attack) => ({
      attack,
      ...(await attackSlowly(attack, "www.example.com", edge.http, CONNECTIONS, SECONDS)),
    }));
    let over = false;
    const reports = Promise.all(attacks).finally(() => (over = true));
    let served = 0;
    while (!over) {
      assert.match(await exchangeRaw(edge.http, GOOD), /^HTTP\/1\.1 200 [^]*fine$/);
      served++;
      await new Promise((done) => setTimeout(done, 20));
    }
    assert.ok(served > 1);
    for (const { attack, isAvailable, isEmpty, output } of await reports) {
      assert.ok(isAvailable, output);
      if (attack === "heads" || attack === "bodies") assert.ok(isEmpty, `${attack}\n${output}`);
    }
    // The remaining clients read too slowly; they are disconnected too.
    await eventually(() => edge.metrics.samples().some(({ name, value }) => name === "selvedge_edge_connections" && value === 0));
    assert.deepEqual(edge.errors, []);
    await edge.close();
    origin.close();
  },
);
