import assert from "node:assert/strict";
import { test } from "node:test";
import { setTimeout as delay } from "node:timers/promises";
import { fc } from "../support/property.ts";
import type { Op } from "#snapshot/entries.ts";
import type { AppliedOp, FeedPort, Replica } from "#snapshot/feed.ts";
import { createPublisher } from "#snapshot/publisher.ts";
import { openReplica } from "#snapshot/replica.ts";
import { createTestSource, dump, feedPair } from "../support/feed.ts";

const plain = { noNullPrototype: true };
const id = fc.constantFrom("a", "b", "c", "d");
const op: fc.Arbitrary<Op> = fc.oneof(
  fc.record({ kind: fc.constant("serial" as const), id, value: fc.option(fc.record({ serial: fc.nat() }, plain)) }, plain),
  fc.record(
    {
      kind: fc.constant("gateway" as const),
      id,
      value: fc.option(fc.record({ account_id: id, gateway_id: id, authentication: fc.boolean(), collect_logs: fc.boolean() }, plain)),
    },
    plain,
  ),
);

type Step =
  | { readonly type: "commit"; readonly ops: readonly Op[] }
  /** The source forgets what is more than this many revisions old. */
  | { readonly type: "trim"; readonly kept: number }
  /** The source goes back by as many revisions, and on from there. */
  | { readonly type: "restore"; readonly back: number }
  | { readonly type: "fail"; readonly calls: number }
  /** A replica loses its connection, and comes back with the revision that it had. */
  | { readonly type: "reconnect"; readonly replica: number }
  /** A message to a replica gets lost. */
  | { readonly type: "lose"; readonly replica: number }
  | { readonly type: "turn" };

const replica = fc.nat(1);
const step: fc.Arbitrary<Step> = fc.oneof(
  { weight: 6, arbitrary: fc.record({ type: fc.constant("commit" as const), ops: fc.array(op, { minLength: 1, maxLength: 5 }) }) },
  { weight: 1, arbitrary: fc.record({ type: fc.constant("trim" as const), kept: fc.nat(4) }) },
  { weight: 1, arbitrary: fc.record({ type: fc.constant("restore" as const), back: fc.integer({ min: 1, max: 4 }) }) },
  { weight: 1, arbitrary: fc.record({ type: fc.constant("fail" as const), calls: fc.integer({ min: 1, max: 2 }) }) },
  { weight: 2, arbitrary: fc.record({ type: fc.constant("reconnect" as const), replica }) },
  { weight: 1, arbitrary: fc.record({ type: fc.constant("lose" as const), replica }) },
  { weight: 4, arbitrary: fc.constant({ type: "turn" as const }) },
);

/** A port that can be plugged into one feed after another, and can lose messages. */
function createSocket() {
  let listener: Parameters<FeedPort["onMessage"]>[0] = () => {};
  let current: FeedPort | null = null;
  let losses = 0;
  let history = "";
  const port: FeedPort = {
    send: (message) => current?.send(message),
    onMessage: (next) => {
      listener = next;
    },
    onClose: () => {},
    close: () => current?.close(),
  };
  return {
    port,
    /** Of what was sent here. */
    history: () => history,
    lose: () => {
      losses++;
    },
    loseNoMore: () => {
      losses = 0;
    },
    plug: (next: FeedPort) => {
      current?.close();
      current = next;
      next.onMessage((message) => {
        if (current !== next) return;
        if (message.type === "full") ({ history } = message);
        if (losses > 0 && message.type === "delta") losses--;
        else listener(message);
      });
    },
  };
}

/** An index as a plane keeps one: built from the snapshot, then moved by deltas alone. */
function indexOf({ snapshot, onApplied }: Replica): ReadonlyMap<string, unknown> {
  const index = new Map<string, unknown>();
  const rebuild = (): void => {
    index.clear();
    for (const { kind, id: key, value } of dump(snapshot)) index.set(`${kind} ${key}`, value);
  };
  const apply = (applied: AppliedOp): void => {
    const key = `${applied.kind} ${applied.id}`;
    assert.deepEqual(index.get(key), applied.before);
    if (applied.value === null) index.delete(key);
    else index.set(key, applied.value);
  };
  rebuild();
  onApplied((ops) => (ops === null ? rebuild() : ops.forEach(apply)));
  return index;
}

test("a replica that applied deltas equals a new one, whatever happened to the feed", { timeout: 300_000 }, async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(step, { maxLength: 40 }), async (steps) => {
      const source = createTestSource();
      const publisher = createPublisher({ source });
      await publisher.start();
      try {
        const errors: unknown[] = [];
        const sockets = [createSocket(), createSocket()];
        const plug = (n: number): void => {
          const { publisherEnd, replicaEnd } = feedPair();
          publisher.attach(publisherEnd);
          sockets[n]!.plug(replicaEnd);
        };
        const open = async (n: number): Promise<Replica> => {
          plug(n);
          return openReplica({
            port: sockets[n]!.port,
            name: `n${n}`,
            log: (level, message, fields) => level === "error" && errors.push({ message, fields }),
          });
        };
        const replicas = await Promise.all([open(0), open(1)]);
        const indexes = replicas.map(indexOf);
        const reconnect = (n: number): void => {
          plug(n);
          sockets[n]!.port.send({ type: "subscribe", name: `n${n}`, history: sockets[n]!.history(), rev: replicas[n]!.snapshot.rev });
        };
        const copies = [dump(source.state)];
        for (const next of steps) {
          if (next.type === "commit") copies[source.commit(next.ops)] = dump(source.state);
          else if (next.type === "restore") {
            const rev = Math.max(0, source.state.rev - next.back);
            source.restore(rev, copies[rev] ?? []);
          } else if (next.type === "trim") source.trim(source.state.rev - next.kept);
          else if (next.type === "fail") source.fail(next.calls);
          else if (next.type === "reconnect") reconnect(next.replica);
          else if (next.type === "lose") sockets[next.replica]!.lose();
          else await new Promise(setImmediate);
        }
        source.fail(0);
        for (const { loseNoMore } of sockets) loseNoMore();
        // A message that was lost shows at the next one. No former history had as many revisions as this one then has.
        for (let i = 0; i <= steps.length; i++) source.commit([{ kind: "serial", id: "end", value: { serial: i } }]);
        source.commit([{ kind: "serial", id: "end", value: null }]);
        const isThere = ({ snapshot }: Replica, n: number): boolean =>
          snapshot.rev === source.state.rev && sockets[n]?.history() === source.position().history;
        while (!replicas.every(isThere)) await delay(2);
        for (const [n, one] of replicas.entries()) {
          assert.deepEqual(dump(one.snapshot), dump(source.state));
          assert.deepEqual(
            new Map([...indexes[n]!].toSorted()),
            new Map(
              dump(source.state)
                .map(({ kind, id: key, value }) => [`${kind} ${key}`, value] as const)
                .toSorted(),
            ),
          );
        }
        assert.deepEqual(errors, []);
      } finally {
        await publisher.close();
      }
    }),
    { numRuns: 150 },
  );
});
