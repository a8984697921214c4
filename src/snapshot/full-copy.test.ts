import assert from "node:assert/strict";
import { test } from "node:test";
import { setImmediate as turn } from "node:timers/promises";
import { fc } from "../../test/support/property.ts";
import { itemsPerTurn } from "../../test/support/items-per-turn.ts";
import { eventually } from "../../test/support/eventually.ts";
import { feedPair } from "../../test/support/feed.ts";
import { type Op, opsWeight, type RecordEntry, type ZoneEntry } from "./entries.ts";
import type { AppliedOp, FeedMessage, FeedReply, FullCopy } from "./feed.ts";
import { NAMES_AT_ONCE } from "./large-delta.ts";
import { createPublisher } from "./publisher.ts";
import { openReplica } from "./replica.ts";

const zoneOp = (id: string, plan: string): Op => ({ kind: "zone", id, value: { id, name: `${id}.test`, plan } as ZoneEntry });
const recordOp = (zone: string, n: number, content: string): Op => ({
  kind: "record",
  id: `${zone}-${n}`,
  value: { zone_id: zone, name: `n${n}.${zone}.test`, type: "A", ttl: 60, content, rdata: "", proxied: false } satisfies RecordEntry,
});
const stagedOp = (zone: string, n: number): Op => ({
  kind: "staged",
  id: `import-${zone}/${n}`,
  value: {
    import_id: `import-${zone}`,
    zone_id: zone,
    records: [{ ...(recordOp(zone, n, "staged").value as RecordEntry), id: `${zone}-s${n}` }],
  },
});

/** An index over the ops that listeners are told, as planes have it. */
function createMirror() {
  const entries = new Map<string, unknown>();
  const layers = new Map<string, { id: string; value: unknown }[]>();
  const put = (kind: string, id: string, value: unknown): void =>
    void (value === null ? entries.delete(`${kind} ${id}`) : entries.set(`${kind} ${id}`, value));
  return {
    apply: (ops: readonly AppliedOp[]): void => {
      for (const op of ops) {
        if (op.kind === "staged")
          layers.set(op.value!.import_id, [
            ...(layers.get(op.value!.import_id) ?? []),
            ...op.changes.map(({ id, value }) => ({ id, value })),
          ]);
        else if (op.kind === "release") {
          if (op.value !== null) for (const { id, value } of layers.get(op.id) ?? []) put("record", id, value);
          layers.delete(op.id);
        } else {
          assert.deepEqual(entries.get(`${op.kind} ${op.id}`), op.before, "before is what listeners were told");
          put(op.kind, op.id, op.value);
        }
      }
    },
    staged: (): string[] => [...layers].flatMap(([id, changes]) => changes.map((change) => `${id} ${change.id}`)).toSorted(),
    /** Entries as visitors see them: records only of zones that are here. */
    visible: (): string[] =>
      [...entries]
        .filter(([key, value]) => !key.startsWith("record ") || entries.has(`zone ${(value as RecordEntry).zone_id}`))
        .map(([key, value]) => `${key} ${JSON.stringify(value)}`)
        .toSorted(),
    size: () => entries.size,
  };
}

function mirrorOf(ops: readonly Op[]) {
  const mirror = createMirror();
  mirror.apply(
    ops.map((op) =>
      op.kind === "staged"
        ? {
            ...op,
            before: undefined,
            changes: op.value!.records.map(({ id, ...value }) => ({
              id,
              value: { zone_id: op.value!.zone_id, ...value },
              before: undefined,
            })),
          }
        : ({ ...op, before: undefined } as AppliedOp),
    ),
  );
  return mirror;
}

const world = fc
  .uniqueArray(fc.constantFrom("a", "b", "c"), { maxLength: 3 })
  .chain((zones) =>
    fc.record({
      zones: fc.tuple(...zones.map((zone) => fc.constantFrom("free", "pro").map((plan) => zoneOp(zone, plan)))),
      records: fc.tuple(
        ...zones.map((zone) =>
          fc
            .uniqueArray(fc.tuple(fc.nat(40), fc.constantFrom("1", "2")), { maxLength: 40, selector: ([n]) => n })
            .map((records) => records.map(([n, content]) => recordOp(zone, n, content))),
        ),
      ),
      staged: fc.tuple(...zones.map((zone) => fc.nat(2).map((count) => Array.from({ length: count }, (_, n) => stagedOp(zone, n))))),
      serial: fc.constantFrom(1, 2),
    }),
  )
  .map(({ zones, records, staged, serial }): Op[] => [
    ...zones,
    { kind: "serial", id: "a", value: { serial } },
    ...records.flat(),
    ...staged.flat(),
  ]);

test("property: a full copy in any number of pages gives listeners the difference to the old state, and readers see the old state or the new one", async () => {
  await fc.assert(
    fc.asyncProperty(world, world, fc.integer({ min: 1, max: 50 }), async (before, after, page) => {
      let listener: (message: FeedMessage | FeedReply) => void = () => {};
      const replies: (FeedMessage | FeedReply)[] = [];
      const port = { send: (reply: FeedMessage | FeedReply) => void replies.push(reply), onClose: () => {}, close: () => {} };
      const opening = openReplica({ port: { ...port, onMessage: (next) => void (listener = next) }, name: "n" });
      await turn();
      listener({ type: "full", history: "h", rev: 5, ops: before });
      listener({ type: "live", rev: 5 });
      const { onApplied, snapshot } = await opening;
      const mirror = mirrorOf(before);
      const wanted = mirrorOf(after);
      const seen = new Set([mirror.visible().join()]);
      onApplied((ops) => {
        assert.ok(ops, "nothing is indexed in one go");
        mirror.apply(ops);
        seen.add(mirror.visible().join());
      });
      for (let at = 0; at === 0 || at < after.length; at += page) {
        const ops = structuredClone(after.slice(at, at + page));
        const more = at + page < after.length;
        listener({ type: "full", history: "i", rev: 3, ops, ...(at > 0 ? { continues: true } : {}), ...(more ? { more: true } : {}) });
      }
      for (let turns = 0; turns < 200 && !replies.some((reply) => reply.type === "applied" && reply.rev === 3); turns++) await turn();
      for (let turns = 0; turns < 5; turns++) await turn();
      assert.equal(snapshot.rev, 3);
      assert.deepEqual(mirror.visible(), wanted.visible());
      assert.deepEqual(mirror.staged(), wanted.staged());
      assert.equal(mirror.size(), wanted.size(), "what nobody sees leaves too");
      assert.ok(seen.size <= 2, "one step from the one to the other");
      assert.deepEqual(
        [...snapshot.entries("record")].map(([id]) => id).toSorted(),
        after.flatMap((op) => (op.kind === "record" ? [op.id] : [])).toSorted(),
      );
    }),
    { numRuns: 100 },
  );
});

test("a serving plane applies a full copy of any size in limited steps, and control sends it in limited steps", async (t) => {
  const RECORDS = 12_000;
  const records = (zone: string, content: string): Op[] => Array.from({ length: RECORDS }, (_, n) => recordOp(zone, n, content));
  let copy: FullCopy = {
    history: "one",
    rev: 1,
    ops: [zoneOp("a", "free"), ...records("a", "1"), zoneOp("b", "free"), ...records("b", "1")],
  };
  const source = {
    full: async () => copy,
    stream: async () => assert.fail("nobody keeps a copy"),
    since: async (at: { history: string; rev: number }) => (at.history === copy.history && at.rev === copy.rev ? [] : null),
    onCommit: () => () => {},
  };
  const publisher = createPublisher({ source });
  await publisher.start();
  t.after(() => publisher.close());
  const { publisherEnd, replicaEnd } = feedPair();
  const received = itemsPerTurn();
  replicaEnd.onMessage((message) => {
    if (message.type === "full") received.add(message.ops.length);
  });
  publisher.attach(publisherEnd);
  const { snapshot, onApplied } = await openReplica({ port: replicaEnd, name: "n" });
  const told = itemsPerTurn();
  onApplied((ops) => {
    assert.ok(ops);
    told.add(opsWeight(ops));
  });
  // One zone changes in all its records, one goes and one comes.
  copy = { history: "two", rev: 9, ops: [zoneOp("a", "free"), ...records("a", "2"), zoneOp("c", "free"), ...records("c", "1")] };
  const isTaken = (): boolean => snapshot.rev === 9 && snapshot.get("record", `b-${RECORDS - 1}`) === undefined;
  await eventually(isTaken);
  assert.equal(snapshot.get("record", "a-5")?.content, "2");
  assert.equal(snapshot.get("record", `c-${RECORDS - 1}`)?.content, "1");
  assert.ok(told.most() <= NAMES_AT_ONCE, `${told.most()} entries in one turn`);
  assert.ok(received.most() <= 2 * 1_000, `${received.most()} entries arrived in one turn`);
});
