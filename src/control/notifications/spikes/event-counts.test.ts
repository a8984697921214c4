import assert from "node:assert/strict";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { openEventDatabase } from "#events/database/database.ts";
import { openEventQueries } from "#events/read/queries.ts";
import { localReads } from "#events/read/read-client.ts";
import { packed, testSecurityRow } from "#events/testing/rows.ts";
import { createEventCounts } from "./event-counts.ts";

const START_MS = Date.UTC(2026, 0, 15, 10, 0);

test("any number of zones is counted, each completely", async (t) => {
  const directory = mkdtempSync(join(tmpdir(), "selvedge-counts-"));
  const path = join(directory, "events.db");
  const database = openEventDatabase(path);
  const phases = ["http_request_firewall_custom", "http_ratelimit", "http_request_firewall_managed"] as const;
  const rows = Array.from({ length: 4_000 }, (_, zone) =>
    phases.map((phase, n) => testSecurityRow({ id: `${zone}-${n}`, zone_id: `zone-${zone}`, phase, at_ms: START_MS + zone })),
  ).flat();
  database.insert([packed("security_events", rows)]);
  database.close();
  const queries = openEventQueries(path);
  t.after(() => {
    queries.close();
    rmSync(directory, { recursive: true, force: true });
  });
  const counts = await createEventCounts(localReads(queries)).inWindow("security_events", START_MS, START_MS + 300_000);
  assert.equal(counts.length, 12_000);
  assert.equal(new Set(counts.map(({ zone_id, service }) => `${zone_id}/${service}`)).size, 12_000);
});
