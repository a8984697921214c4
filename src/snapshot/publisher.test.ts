import assert from "node:assert/strict";
import { existsSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test, type TestContext } from "node:test";
import { setTimeout as delay } from "node:timers/promises";
import { createTestSource, dump, feedPair, type TestSource, readCopy } from "../../test/support/feed.ts";
import type { Op } from "./entries.ts";
import type { AppliedOp, FeedMessage, FeedPort, FeedReply, Position } from "./feed.ts";
import { createPublisher, type Publisher } from "./publisher.ts";
import { openReplica } from "./replica.ts";
import { eventually, PATIENCE_MS, settled } from "../../test/support/eventually.ts";

const serial = (id: string, value: number | null): Op => ({ kind: "serial", id, value: value === null ? null : { serial: value } });

async function startedPublisher(t: TestContext, source: TestSource, lastGoodPath?: string): Promise<Publisher> {
  const publisher = createPublisher({ source, ...(lastGoodPath === undefined ? {} : { lastGoodPath }) });
  await publisher.start();
  t.after(() => publisher.close());
  return publisher;
}

function temporaryDirectory(t: TestContext): string {
  const directory = mkdtempSync(join(tmpdir(), "selvedge-feed-"));
  t.after(() => rmSync(directory, { recursive: true, force: true }));
  return directory;
}

/** A replica's end that only writes down what arrives. */
function recorder(port: FeedPort): readonly (FeedMessage | FeedReply)[] {
  const seen: (FeedMessage | FeedReply)[] = [];
  port.onMessage((message) => seen.push(message));
  return seen;
}

test("a replica gets a full copy, then each commit as one delta with old and new values", async (t) => {
  const source = createTestSource();
  source.commit([serial("a", 1)]);
  const publisher = await startedPublisher(t, source);
  const { publisherEnd, replicaEnd } = feedPair();
  publisher.attach(publisherEnd);
  const replica = await openReplica({ port: replicaEnd, name: "dns-1" });
  assert.deepEqual(replica.snapshot.get("serial", "a"), { serial: 1 });
  const told: (readonly AppliedOp[] | null)[] = [];
  replica.onApplied((ops) => void told.push(ops));
  const rev = source.commit([serial("a", 2), serial("b", 1), serial("b", null)]);
  assert.deepEqual(await publisher.settled(rev, PATIENCE_MS), { behind: [] });
  assert.deepEqual(told, [
    [
      { kind: "serial", id: "a", value: { serial: 2 }, before: { serial: 1 } },
      { kind: "serial", id: "b", value: { serial: 1 }, before: undefined },
      { kind: "serial", id: "b", value: null, before: { serial: 1 } },
    ],
  ]);
  assert.equal(replica.snapshot.rev, rev);
  assert.throws(() => Object.assign(replica.snapshot.get("serial", "a")!, { serial: 9 }), TypeError);
});

test("a source that fails again and again for one reason is logged once, and again after it has answered", async (t) => {
  const inner = createTestSource();
  let reason = "";
  const reasons: unknown[] = [];
  let asked = 0;
  const source = {
    ...inner,
    since: async (at: Position) => {
      asked++;
      if (reason !== "") throw new Error(reason);
      return inner.since(at);
    },
  };
  const publisher = createPublisher({ source, log: (_level, _message, fields) => void reasons.push(fields?.["reason"]) });
  await publisher.start();
  t.after(() => publisher.close());
  const look = async (): Promise<void> => {
    const before = asked;
    inner.commit([serial("a", before)]);
    await eventually(() => asked > before);
  };
  for (const now of ["away", "away", "away", "full", "", "full"]) {
    reason = now;
    await look();
    await eventually(() => publisher.position()?.rev === inner.position().rev || now !== "");
  }
  await eventually(() => reasons.length >= 3);
  assert.deepEqual(reasons, ["Error: away", "Error: full", "Error: full"]);
});

test("a source that says how many deltas it gives at once is asked once for each commit, and for more while it has more", async (t) => {
  const inner = createTestSource();
  let asked = 0;
  let open = (): void => undefined;
  const source = {
    ...inner,
    deltasAtOnce: 2,
    since: async (at: Position) => {
      asked++;
      const deltas = await inner.since(at);
      return deltas?.slice(0, 2) ?? null;
    },
    // Like the database's source, it may announce several commits at once.
    onCommit: (listener: () => void) => {
      open = listener;
      return () => undefined;
    },
  };
  const publisher = await startedPublisher(t, source);
  const { publisherEnd, replicaEnd } = feedPair();
  publisher.attach(publisherEnd);
  const replica = await openReplica({ port: replicaEnd, name: "dns-1" });
  for (const [commits, times] of [
    [1, 1],
    [2, 2],
    [5, 3],
  ] as const) {
    asked = 0;
    const revs = Array.from({ length: commits }, (_, i) => inner.commit([serial("a", i + 1)]));
    open();
    await publisher.settled(revs.at(-1)!, PATIENCE_MS);
    assert.deepEqual([replica.snapshot.get("serial", "a"), asked], [{ serial: commits }, times]);
  }
});

test("while a replica has more than two deltas to apply, the planes are behind", async (t) => {
  const source = createTestSource();
  const publisher = await startedPublisher(t, source);
  const { publisherEnd, replicaEnd } = feedPair();
  publisher.attach(publisherEnd);
  const seen = recorder(replicaEnd);
  replicaEnd.send({ type: "subscribe", name: "slow", history: "history 1", rev: 0 });
  while (seen.at(-1)?.type !== "live") await delay(5);
  const answers: boolean[] = [];
  for (let i = 1; i <= 3; i++) {
    const rev = source.commit([serial("a", i)]);
    while (publisher.position()?.rev !== rev) await delay(5);
    answers.push(publisher.isFollowed());
  }
  replicaEnd.send({ type: "applied", rev: 1 });
  await eventually(() => publisher.isFollowed());
  assert.deepEqual(answers, [true, true, false]);
});

test("a replica that resumes gets the missing deltas, or a full copy if it is too far behind", async (t) => {
  const source = createTestSource();
  for (let i = 1; i <= 8; i++) source.commit([serial("a", i)]);
  const publisher = await startedPublisher(t, source);
  const resume = async (...revs: readonly number[]): Promise<string[]> => {
    const { publisherEnd, replicaEnd } = feedPair();
    publisher.attach(publisherEnd);
    const seen = recorder(replicaEnd);
    for (const rev of revs) replicaEnd.send({ type: "subscribe", name: "n", history: "history 1", rev });
    while (seen.at(-1)?.type !== "live") await delay(5);
    replicaEnd.close();
    return seen.map((message) => (message.type === "delta" ? String(message.delta.rev) : message.type));
  };
  assert.deepEqual(await resume(3), ["4", "5", "6", "7", "8", "live"]);
  assert.deepEqual(await resume(8), ["live"]);
  assert.deepEqual(await resume(3, 5), ["6", "7", "8", "live"], "the second of two subscriptions counts");
  assert.deepEqual(await resume(99), ["full", "live"], "a revision that the source never had");
  source.trim(5);
  assert.deepEqual(await resume(3), ["full", "live"]);
  assert.deepEqual(await resume(6), ["7", "8", "live"]);
});

test("settled names the planes that are behind, and does not wait for them again", async (t) => {
  const source = createTestSource();
  const publisher = await startedPublisher(t, source);
  const prompt = feedPair();
  publisher.attach(prompt.publisherEnd);
  await openReplica({ port: prompt.replicaEnd, name: "prompt" });
  const deaf = feedPair();
  publisher.attach(deaf.publisherEnd);
  const seen = recorder(deaf.replicaEnd);
  deaf.replicaEnd.send({ type: "subscribe", name: "deaf", history: "history 1", rev: 0 });
  while (seen.length === 0) await delay(5);
  assert.deepEqual(await publisher.settled(source.commit([serial("a", 1)]), 2_000), { behind: ["deaf"] });
  const hour = 3_600_000;
  assert.deepEqual(await publisher.settled(source.commit([serial("a", 2)]), hour), { behind: ["deaf"] });
  deaf.replicaEnd.send({ type: "applied", rev: 2 });
  await settled(20);
  const third = publisher.settled(source.commit([serial("a", 3)]), hour);
  while (seen.at(-1)?.type !== "delta" || seen.length < 4) await delay(5);
  deaf.replicaEnd.send({ type: "applied", rev: 3 });
  assert.deepEqual(await third, { behind: [] });
  const fourth = publisher.settled(source.commit([serial("a", 4)]), hour);
  deaf.replicaEnd.close();
  assert.deepEqual(await fourth, { behind: [] }, "a plane that left is not waited for");
});

test("the publisher retries a failing source, and loses no change", async (t) => {
  const source = createTestSource();
  const publisher = await startedPublisher(t, source);
  const { publisherEnd, replicaEnd } = feedPair();
  publisher.attach(publisherEnd);
  source.fail(2);
  const replica = await openReplica({ port: replicaEnd, name: "n" });
  source.fail(1);
  source.commit([serial("a", 1)]);
  assert.deepEqual(await publisher.settled(source.commit([serial("a", 2)]), PATIENCE_MS), { behind: [] });
  assert.deepEqual(dump(replica.snapshot), dump(source.state));
});

test(
  "a start ends after the first attempt, although the source says during each one that it has more",
  { timeout: PATIENCE_MS },
  async (t) => {
    const inner = createTestSource();
    let hint = (): void => undefined;
    let isAway = true;
    const source: TestSource = {
      ...inner,
      full: async () => {
        // A node hears of changes that it cannot read yet.
        hint();
        if (isAway) throw new Error("no full copy yet");
        return inner.full();
      },
      onCommit: (listener) => {
        hint = listener;
        return inner.onCommit(listener);
      },
    };
    t.after(() => (isAway = false));
    const publisher = await startedPublisher(t, source);
    assert.equal(publisher.position(), null);
    isAway = false;
    await eventually(() => publisher.position() !== null);
  },
);

test("a listener that throws must rebuild, and the replica acknowledges the revision after it has", async (t) => {
  const source = createTestSource();
  const publisher = await startedPublisher(t, source);
  const { publisherEnd, replicaEnd } = feedPair();
  publisher.attach(publisherEnd);
  const replica = await openReplica({ port: replicaEnd, name: "weak" });
  const calls: string[] = [];
  let broken = true;
  replica.onApplied((ops) => {
    calls.push(ops === null ? "rebuild" : "delta");
    if (broken) throw new Error("as the test wants");
  });
  assert.deepEqual(await publisher.settled(source.commit([serial("a", 1)]), 100), { behind: ["weak"] });
  await eventually(() => calls.length === 2);
  broken = false;
  source.commit([serial("a", 2)]);
  while (calls.length < 3) await delay(5);
  assert.deepEqual(calls, ["delta", "rebuild", "rebuild"]);
  await settled(20);
  assert.deepEqual(await publisher.settled(source.commit([serial("a", 3)]), PATIENCE_MS), { behind: [] });
  assert.equal(calls.at(-1), "delta");
});

test("the last good copy exists after the start, follows changes, and lets a plane serve without control", async (t) => {
  const lastGoodPath = join(temporaryDirectory(t), "last-good");
  const source = createTestSource();
  source.commit([serial("a", 1)]);
  const publisher = createPublisher({ source, lastGoodPath });
  await publisher.start();
  assert.equal((await readCopy(lastGoodPath, assert.fail))?.rev, 1);
  source.commit([serial("a", 2)]);
  await publisher.close();
  assert.deepEqual(await readCopy(lastGoodPath, assert.fail), { history: "history 1", rev: 2, ops: [serial("a", 1), serial("a", 2)] });
  const { publisherEnd, replicaEnd } = feedPair();
  const replica = await openReplica({ port: replicaEnd, name: "alone", lastGoodPath });
  assert.deepEqual(replica.snapshot.get("serial", "a"), { serial: 2 });
  assert.equal(existsSync(`${lastGoodPath}.new`), false);
  publisherEnd.close();
});

test("a publisher whose copy has a former history starts over", async (t) => {
  const lastGoodPath = join(temporaryDirectory(t), "last-good");
  const longer = createTestSource();
  for (let i = 1; i <= 5; i++) longer.commit([serial("a", i)]);
  const before = createPublisher({ source: longer, lastGoodPath });
  await before.start();
  await before.close();
  const restored = createTestSource();
  restored.commit([serial("b", 1)]);
  const publisher = await startedPublisher(t, restored, lastGoodPath);
  assert.deepEqual(await readCopy(lastGoodPath, assert.fail), { history: "history 1", rev: 1, ops: [serial("b", 1)] });
  const { publisherEnd, replicaEnd } = feedPair();
  publisher.attach(publisherEnd);
  const replica = await openReplica({ port: replicaEnd, name: "n", lastGoodPath });
  assert.deepEqual(dump(replica.snapshot), [serial("b", 1)]);
});

test("a replica gets its selected kinds at every revision, also from the last good copy", async (t) => {
  const lastGoodPath = join(temporaryDirectory(t), "last-good");
  const source = createTestSource();
  source.commit([serial("a", 1), { kind: "token", id: "t", value: null }]);
  const publisher = await startedPublisher(t, source, lastGoodPath);
  const { publisherEnd, replicaEnd } = feedPair();
  publisher.attach(publisherEnd);
  const replica = await openReplica({ port: replicaEnd, name: "n", kinds: ["gateway"], lastGoodPath });
  const gateway = {
    kind: "gateway",
    id: "g",
    value: { account_id: "a", gateway_id: "g", authentication: true, collect_logs: true },
  } as const;
  await publisher.settled(source.commit([serial("b", 1)]), PATIENCE_MS);
  const rev = source.commit([serial("c", 1), gateway]);
  assert.deepEqual(await publisher.settled(rev, PATIENCE_MS), { behind: [] });
  assert.equal(replica.snapshot.rev, rev);
  assert.deepEqual(
    dump(replica.snapshot).map(({ id }) => id),
    ["g"],
  );
});

test("a replica that lacks a part of an import requests a full copy", async (t) => {
  const source = createTestSource();
  const publisher = await startedPublisher(t, source);
  const { publisherEnd, replicaEnd } = feedPair();
  publisher.attach(publisherEnd);
  const replica = await openReplica({ port: replicaEnd, name: "n", kinds: ["record", "release"] });
  const record = { id: "r", name: "r.example.com", type: "A", ttl: 60, content: "192.0.2.1", rdata: "wAACAQ==", proxied: false };
  source.commit([{ kind: "staged", id: "i/0", value: { import_id: "i", zone_id: "z", records: [record] } }]);
  // The kinds leave the staged records out, as a fault would.
  const rev = source.commit([{ kind: "release", id: "i", value: { zone_id: "z", records: 1 } }]);
  assert.deepEqual(await publisher.settled(rev, PATIENCE_MS), { behind: [] });
  assert.equal(replica.snapshot.get("record", "r")?.zone_id, "z");
});

test("replicas of a restored source lose the data that it no longer has, also after later changes", async (t) => {
  const lastGoodPath = join(temporaryDirectory(t), "last-good");
  const source = createTestSource();
  source.commit([serial("kept", 1)]);
  const backup = dump(source.state);
  source.commit([serial("lost", 1)]);
  const publisher = createPublisher({ source, lastGoodPath });
  await publisher.start();
  const { publisherEnd, replicaEnd } = feedPair();
  publisher.attach(publisherEnd);
  const replica = await openReplica({ port: replicaEnd, name: "live" });
  assert.deepEqual(replica.snapshot.get("serial", "lost"), { serial: 1 });
  source.restore(1, backup);
  // Past the revision that everybody has, before anybody looks.
  source.commit([serial("new", 1)]);
  const rev = source.commit([serial("new", 2)]);
  assert.equal(rev, 3);
  await eventually(() => replica.snapshot.rev === rev);
  assert.deepEqual(dump(replica.snapshot), [serial("kept", 1), serial("new", 2)]);
  const late = feedPair();
  publisher.attach(late.publisherEnd);
  const seen = recorder(late.replicaEnd);
  late.replicaEnd.send({ type: "subscribe", name: "late", history: "history 1", rev: 2 });
  await eventually(() => seen.at(-1)?.type === "live");
  assert.deepEqual(seen[0], { type: "full", ...source.position(), ops: dump(source.state) });
  await publisher.close();
  assert.deepEqual((await readCopy(lastGoodPath, assert.fail))?.ops, dump(source.state));
});
