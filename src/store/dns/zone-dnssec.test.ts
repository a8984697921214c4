import assert from "node:assert/strict";
import { systemClock } from "#kernel/clock.ts";
import { databaseTest } from "../../../test/support/store.ts";
import { MIGRATIONS, migrate } from "#store/database/migrate.ts";
import { openStore } from "#store/database/open.ts";
import { createPostgres } from "#store/database/backends/postgres.ts";
import { DIALECTS } from "#store/queries/session.ts";
import { openSqlite } from "#store/database/backends/sqlite.ts";
import { dnssecKeysOfZone, dnssecChecksDue, dnssecOfZone } from "./zone-dnssec.ts";

databaseTest("a zone's single DNSSEC key becomes the first of several, and its parent is checked soon", async (url, name) => {
  const server = name === "postgres" ? createPostgres(url) : null;
  const session = server ? await server.connect({ statementTimeoutMs: 10_000 }) : openSqlite(url.slice("sqlite:".length), "migrate");
  await migrate(
    session,
    DIALECTS[name],
    systemClock,
    MIGRATIONS.filter(({ version }) => version <= 4),
  );
  await session.query("INSERT INTO accounts (id, name, type, settings, created_on) VALUES ('a', 'a', 'standard', '{}', '')");
  await session.query(
    "INSERT INTO zones (id, account_id, name, status, type, paused, plan, name_servers, settings, serial, record_count, vanity_name_servers, created_on, modified_on) VALUES ('z', 'a', 'b.example', 'active', 'full', 0, 'pro', '[]', '{}', 1, 1, '[]', '', '')",
  );
  await session.query(
    "INSERT INTO zone_dnssec (zone_id, key_id, status, public_key, private_key, multi_signer, use_nsec3, modified_on) VALUES ('z', 'k', 'pending', 'cHVi', 'sealed', 1, 0, '2026-01-01T00:00:00.000000Z')",
  );
  await session.close();
  await server?.close();
  const store = await openStore({ url, clock: systemClock });
  try {
    const at = "2026-01-01T00:00:00.000000Z";
    assert.deepEqual(await dnssecKeysOfZone(store.read, "z"), [
      { id: "k", zone_id: "z", public_key: "cHVi", private_key: "sealed", created_on: at },
    ]);
    assert.deepEqual(await dnssecOfZone(store.read, "z"), {
      zone_id: "z",
      status: "pending",
      status_since: at,
      rollover: "none",
      rollover_since: at,
      ds_named: "[]",
      ds_others: "[]",
      ds_since: at,
      ds_ttl: 0,
      looked_on: "",
      look_failure: "",
      look_failures: 0,
      next_look_on: at,
      refetch_on: at,
      multi_signer: 1,
      modified_on: at,
    });
    const due = [{ zone_id: "z", name: "b.example" }];
    const [before, longBefore] = ["2025-12-31T23:59:59.000000Z", "2025-12-31T22:00:00.000000Z"];
    assert.deepEqual(await dnssecChecksDue(store.read, at, at, 10), due);
    assert.deepEqual(await dnssecChecksDue(store.read, before, at, 10), []);
    assert.deepEqual(await dnssecChecksDue(store.read, longBefore, before, 10), due, "the clock was set back");
  } finally {
    await store.close();
  }
});
