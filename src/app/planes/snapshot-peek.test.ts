import assert from "node:assert/strict";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { createLastGoodKeeper } from "#snapshot/last-good/last-good-keeper.ts";
import type { Op } from "#snapshot/entries.ts";
import { snapshotMayHave } from "./snapshot-peek.ts";

const op = (kind: string, value: object | null): Op => ({ kind, id: "1", value }) as unknown as Op;
const TOKEN = op("token", { name: 'a "kind":"zone" of its own' });
const ZONE = op("zone", { name: "example.com" });
const GATEWAY = op("gateway", { name: "chats" });

test("a snapshot copy may contain zones or gateways if its file or journal names one, or if it is long", async (t) => {
  const directory = mkdtempSync(join(tmpdir(), "selvedge-glance-"));
  t.after(() => rmSync(directory, { recursive: true }));
  const path = join(directory, "snapshot.last-good");
  assert.equal(snapshotMayHave("zone", path), false);

  const keep = async (base: readonly Op[], journal: readonly Op[]): Promise<void> => {
    const keeper = createLastGoodKeeper({
      path,
      log: () => undefined,
      stream: (use) =>
        use(
          { history: "h", rev: 1 },
          (async function* () {
            yield base;
          })(),
        ),
    });
    await keeper.open();
    keeper.startOver();
    await keeper.flush();
    if (journal.length > 0) keeper.add({ from: 1, rev: 2, ops: journal }, "h");
    await keeper.close();
  };
  await keep([TOKEN], [TOKEN]);
  assert.equal(snapshotMayHave("zone", path), false);
  await keep([TOKEN], [TOKEN, ZONE]);
  assert.equal(snapshotMayHave("zone", path), true);
  await keep([ZONE, TOKEN], []);
  assert.equal(snapshotMayHave("zone", path), true);
  assert.equal(snapshotMayHave("gateway", path), false);
  await keep([ZONE, TOKEN, GATEWAY], []);
  assert.equal(snapshotMayHave("gateway", path), true);
  await keep([ZONE], [GATEWAY]);
  assert.equal(snapshotMayHave("gateway", path), true);
  writeFileSync(path, "x".repeat(100_000));
  assert.equal(snapshotMayHave("zone", path), true);
});
