import assert from "node:assert/strict";
import { test } from "node:test";
import { setImmediate as turn } from "node:timers/promises";
import type { Delta } from "./entries.ts";
import type { FeedMessage, FeedPort, FeedReply } from "./feed.ts";
import { openReplica } from "./replica.ts";

const delta = (rev: number): { readonly type: "delta"; readonly delta: Delta } => ({
  type: "delta",
  delta: { from: rev - 1, rev, ops: [{ kind: "serial", id: "z", value: { serial: rev } }] },
});

/** A feed whose other end is the test. */
function handFeed() {
  const replies: string[] = [];
  let listener: (message: FeedMessage | FeedReply) => void = () => {};
  const port: FeedPort = {
    send: (message) =>
      replies.push(
        message.type === "live" || message.type === "delta" || message.type === "next"
          ? message.type
          : `${message.type} ${message.rev}${message.type === "applied" && message.pending ? ` but ${message.pending.join()}` : ""}`,
      ),
    onMessage: (next) => {
      listener = next;
    },
    onClose: () => {},
    close: () => {},
  };
  return { port, replies, say: (...messages: readonly FeedMessage[]) => messages.forEach((message) => listener(message)) };
}

async function openAt(rev: number) {
  const feed = handFeed();
  const opening = openReplica({ port: feed.port, name: "n" });
  await turn();
  feed.say({ type: "full", history: "h", rev, ops: [] }, { type: "live", rev });
  const replica = await opening;
  feed.replies.length = 0;
  return { ...feed, replica };
}

test("opening a replica waits until it is live", async () => {
  const { port, replies, say } = handFeed();
  let open = false;
  const opening = openReplica({ port, name: "n" }).then(() => {
    open = true;
  });
  await turn();
  say({ type: "full", history: "h", rev: 7, ops: [] }, delta(8));
  await turn();
  assert.equal(open, false);
  say({ type: "live", rev: 8 });
  await opening;
  assert.deepEqual(replies, ["subscribe 0", "applied 7", "applied 8"]);
});

test("a replica ignores a repeated delta", async () => {
  const { replies, say, replica } = await openAt(7);
  let calls = 0;
  replica.onApplied(() => void calls++);
  say(delta(8), delta(8), delta(7), delta(9));
  assert.deepEqual(replies, ["applied 8", "applied 9"]);
  assert.equal(calls, 2);
});

test("a revision stays pending while a plane works on it, and later revisions do not wait for it", async () => {
  const { replies, say, replica } = await openAt(7);
  const works = [Promise.withResolvers<void>(), undefined, Promise.withResolvers<void>()];
  replica.onApplied((ops) => (ops === null ? undefined : works.shift()?.promise));
  const [first, , second] = works;
  say(delta(8), delta(9));
  assert.deepEqual(replies.splice(0), ["applied 8 but 8", "applied 9 but 8"]);
  first!.resolve();
  await turn();
  assert.deepEqual(replies.splice(0), ["applied 9"]);
  say(delta(10));
  second!.reject(new Error("no"));
  await turn();
  // It was rebuilt.
  assert.deepEqual(replies, ["applied 10 but 10", "applied 10"]);
});

test("a gap causes one new subscription, and another one only if the answer has a gap too", async () => {
  const { replies, say, replica } = await openAt(7);
  say(delta(9), delta(10), delta(11));
  assert.deepEqual(replies.splice(0), ["subscribe 7"]);
  say(delta(8), delta(10), { type: "live", rev: 11 });
  assert.deepEqual(replies.splice(0), ["applied 8", "subscribe 8"]);
  say({ type: "full", history: "h", rev: 11, ops: [] }, { type: "live", rev: 11 }, delta(12));
  assert.deepEqual(replies, ["applied 11", "applied 12"]);
  assert.equal(replica.snapshot.rev, 12);
  assert.deepEqual(replica.snapshot.get("serial", "z"), { serial: 12 });
});

test("a full copy of an earlier revision replaces the current content", async () => {
  const { replies, say, replica } = await openAt(7);
  say(delta(8), { type: "full", history: "h", rev: 3, ops: [] });
  assert.equal(replica.snapshot.rev, 3);
  assert.equal(replica.snapshot.get("serial", "z"), undefined);
  assert.deepEqual(replies, ["applied 8", "applied 3"]);
});
