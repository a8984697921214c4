import assert from "node:assert/strict";
import { test } from "node:test";
import type { SentDelta } from "./bus-message.ts";
import { createDeltaWindow } from "./delta-window.ts";

const STEP = 3;

test("a window finds deltas by the revision at which they begin or end, and looks at few of thousands", () => {
  const window = createDeltaWindow();
  let looks = 0;
  const deltaFrom = (from: number): SentDelta => ({
    ...{ history: "h", hash: `after ${from}`, ops: [] },
    get from() {
      looks++;
      return from;
    },
    get rev() {
      looks++;
      return from + STEP;
    },
  });
  const COUNT = 4_096;
  for (let i = 0; i < COUNT; i++) window.add(deltaFrom(i * STEP));
  looks = 0;
  for (const i of [0, 1, 1_000, COUNT - 1]) {
    assert.equal(window.from({ history: "h", rev: i * STEP }, 2)?.[0]?.hash, `after ${i * STEP}`);
    assert.equal(window.endingAt({ history: "h", rev: (i + 1) * STEP })?.hash, `after ${i * STEP}`);
  }
  assert.ok(looks <= 8 * 16, `${looks} looks for eight questions`);
  for (const rev of [-1, 1, COUNT * STEP]) assert.equal(window.from({ history: "h", rev }, 2), null);
  assert.equal(window.from({ history: "other", rev: 0 }, 2), null);
  assert.equal(window.endingAt({ history: "h", rev: 0 }), undefined);
  assert.equal(window.from({ history: "h", rev: (COUNT - 1) * STEP }, 2)?.length, 1);
  window.clear();
  assert.equal(window.from({ history: "h", rev: 0 }, 2), null);
});
