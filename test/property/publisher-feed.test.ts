import assert from "node:assert/strict";
import { test } from "node:test";
import { setImmediate as turn } from "node:timers/promises";
import { fc } from "../support/property.ts";
import type { FeedMessage, FeedReply } from "#snapshot/feed.ts";
import { createPublisher } from "#snapshot/publisher.ts";
import { createTestSource, feedPair } from "../support/feed.ts";

const plain = { noNullPrototype: true };
const step = fc.oneof(
  { weight: 5, arbitrary: fc.constant({ type: "commit" as const }) },
  { weight: 3, arbitrary: fc.record({ type: fc.constant("subscribe" as const), back: fc.integer({ min: -2, max: 12 }) }, plain) },
  { weight: 1, arbitrary: fc.record({ type: fc.constant("trim" as const), kept: fc.nat(3) }, plain) },
  { weight: 4, arbitrary: fc.constant({ type: "turn" as const }) },
);

/** Follows what a replica is sent, which must be gapless, without repetition, and live once. */
function follower(rev: number) {
  let at = rev;
  let lives = 0;
  return {
    take: (message: FeedMessage | FeedReply): void => {
      if (message.type === "full") {
        at = message.rev;
        // A full copy goes page by page, also to a replica that was live, and ends with another `live`.
        lives = 0;
      } else if (message.type === "delta") {
        assert.equal(message.delta.from, at, "a delta that does not follow");
        at = message.delta.rev;
      } else {
        assert.deepEqual(message, { type: "live", rev: at });
        lives++;
      }
    },
    state: () => ({ at, lives }),
  };
}

test("each subscription gets the missing deltas, then every delta once and in order, without polling", async (t) => {
  t.mock.timers.enable({ apis: ["setInterval"] });
  await fc.assert(
    fc.asyncProperty(fc.array(step, { maxLength: 40 }), fc.integer({ min: 1, max: 4 }), async (steps, batch) => {
      const source = createTestSource({ batch });
      const publisher = createPublisher({ source });
      await publisher.start();
      const followers: ReturnType<typeof follower>[] = [];
      const failures: unknown[] = [];
      for (const next of steps) {
        if (next.type === "commit") source.commit([{ kind: "serial", id: "z", value: { serial: source.state.rev } }]);
        else if (next.type === "trim") source.trim(source.state.rev - next.kept);
        else if (next.type === "turn") await turn();
        else {
          const rev = Math.max(0, source.state.rev - next.back);
          const { publisherEnd, replicaEnd } = feedPair();
          const one = follower(rev);
          followers.push(one);
          publisher.attach(publisherEnd);
          replicaEnd.onMessage((message) => {
            try {
              one.take(message);
              if (message.type === "full" && message.more === true) replicaEnd.send({ type: "next" });
            } catch (error) {
              failures.push(error);
            }
          });
          replicaEnd.send({ type: "subscribe", name: "n", history: "history 1", rev });
        }
      }
      const expected = { at: source.state.rev, lives: 1 };
      const isDone = (): boolean => followers.every((one) => JSON.stringify(one.state()) === JSON.stringify(expected));
      for (let turns = 0; turns < 500 && !isDone(); turns++) await turn();
      for (const one of followers) assert.deepEqual(one.state(), expected);
      assert.deepEqual(failures, []);
      await publisher.close();
    }),
    { numRuns: 200 },
  );
});
