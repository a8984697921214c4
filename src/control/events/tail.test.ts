import assert from "node:assert/strict";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { systemClock } from "#kernel/clock.ts";
import { createSealer } from "#kernel/crypto/seal.ts";
import { newUlid } from "#kernel/crypto/ids.ts";
import { openEventDatabase } from "#events/database/database.ts";
import { openEventQueries } from "#events/read/queries.ts";
import { localReads } from "#events/read/read-client.ts";
import { packed, testSecurityRow } from "#events/testing/rows.ts";
import { fc } from "../../../test/support/property.ts";
import { createSecurityEvents } from "./security-events.ts";

const READERS_OF_ONE = 25;

interface Reader {
  readonly tail: AsyncIterator<string>;
  readonly seen: string[];
  /** Number of events before its first read; null until then. */
  from: number | null;
  reading: Promise<void>;
  reads: number;
}

test("property: however clients open, read and abort live tails, each gets events in order and no place stays taken", async (t) => {
  const directory = await mkdtemp(join(tmpdir(), "selvedge-tails-"));
  const path = join(directory, "events.db");
  const database = openEventDatabase(path);
  const queries = openEventQueries(path);
  t.after(async () => {
    queries.close();
    database.close();
    await rm(directory, { recursive: true });
  });
  const log = createSecurityEvents({ reads: localReads(queries), clock: systemClock, sealer: createSealer(new Uint8Array(32)) });
  let account = 0;
  const step = fc.record({
    what: fc.constantFrom("open", "read", "read", "read", "abort", "event", "event", "wait", "wait"),
    at: fc.nat(5),
  });
  await fc.assert(
    fc.asyncProperty(fc.array(step, { minLength: 20, maxLength: 60 }), async (steps) => {
      const id = `account ${account++}`;
      const ids: string[] = [];
      const readers: Reader[] = [];
      const ended: Promise<unknown>[] = [];
      const open = (): Reader => {
        const tail = log.tail({ zone_id: id }, {}, id)[Symbol.asyncIterator]();
        return { tail, seen: [], from: null, reading: Promise.resolve(), reads: 0 };
      };
      const read = (reader: Reader): void => {
        // Further reads would wait for half a second each.
        if (++reader.reads > 5) return;
        reader.reading = reader.reading.then(async () => {
          const { value } = await reader.tail.next();
          reader.from ??= ids.length;
          for (const [, seen] of String(value ?? "").matchAll(/^id: (\S+)\nevent: /gm)) reader.seen.push(seen!);
        });
      };
      for (const { what, at } of steps) {
        const reader = readers[at % Math.max(1, readers.length)];
        if (what === "open" && readers.length < 3) readers.push(open());
        else if (what === "event") {
          ids.push(newUlid(systemClock.nowMs()));
          database.insert([packed("security_events", [testSecurityRow({ id: ids.at(-1)!, zone_id: id })])]);
        } else if (what === "wait") await reader?.reading;
        else if (reader && what === "read") read(reader);
        else if (reader && what === "abort") ended.push(reader.tail.return!());
      }
      await Promise.all(readers.map(({ reading }) => reading));
      for (const { seen, from } of readers) {
        const start = seen[0] === undefined ? 0 : ids.indexOf(seen[0]);
        assert.ok(start >= 0 && start <= (from ?? ids.length), "it begins where it was opened");
        assert.deepEqual(seen, ids.slice(start, start + seen.length));
      }
      await Promise.all([...ended, ...readers.map(({ tail }) => tail.return!())]);
      const all = Array.from({ length: READERS_OF_ONE }, () => open().tail);
      await Promise.all(all.map((tail) => tail.next()));
      assert.throws(open, /At most 25/);
      await Promise.all(all.map((tail) => tail.return!()));
    }),
    { numRuns: 10 },
  );
});
