import assert from "node:assert/strict";
import { test } from "node:test";
import { fc } from "../../../test/support/property.ts";
import { recordOp } from "../../../test/support/zone-entries.ts";
import { type CanaryReport, createRollout, isUrgent } from "./rollout.ts";

const WAIT_MS = 10_000;
const HISTORY = "a".repeat(32);

/** A rollout under a clock that the test moves, with two canaries. */
function start(canaries: readonly string[] = ["c1", "c2"]) {
  let nowMs = 0;
  let isPaused = false;
  let head = 100;
  const reports = new Map<string, CanaryReport>();
  const rollout = createRollout({ clock: { monotonicMs: () => nowMs }, waitMs: WAIT_MS });
  rollout.recall({ history: HISTORY, rev: 100, canaries, isPaused });
  rollout.start({ history: HISTORY, rev: 100 });
  const world = {
    rollout,
    reports,
    report: (name: string, change: Partial<CanaryReport> = {}) => reports.set(name, { rev: head, problems: [], refused: "", ...change }),
    publish: (urgent = false) => rollout.published(++head, urgent),
    head: () => head,
    /** Judges each second; the last fault. */
    pass: (seconds: number, facts: { readonly isDeaf?: boolean } = {}): string | null => {
      let fault: string | null = null;
      for (let i = 0; i < seconds; i++) {
        nowMs += 1_000;
        fault = rollout.judge({ canaries, reports, isPaused, isDeaf: false, ...facts }).fault ?? fault;
        if (fault !== null) isPaused = true;
      }
      return fault;
    },
    pause: (value: boolean) => void (isPaused = value),
    released: () => rollout.current()?.released,
  };
  for (const name of canaries) world.report(name);
  world.pass(1);
  return world;
}

test("a change follows to the other nodes when all canaries have had it for the time, and are well", () => {
  const world = start();
  world.publish();
  world.pass(30);
  assert.equal(world.released(), 100, "no canary has it");
  world.report("c1");
  world.pass(1);
  assert.equal(world.released(), 100, "one has it");
  world.report("c2");
  assert.equal(world.pass(1), null);
  assert.equal(world.released(), 101);
  world.publish();
  world.report("c1");
  world.report("c2");
  assert.equal(world.pass(9), null);
  assert.equal(world.released(), 101, "it has not waited");
  world.pass(2);
  assert.equal(world.released(), 102);
});

test("a canary that is silent, has problems, does not apply a change or refuses one stops the rollout", () => {
  const faults: readonly [(world: ReturnType<typeof start>) => void, RegExp][] = [
    [(world) => world.reports.delete("c1"), /^c1 was not heard of$/],
    [(world) => world.report("c1", { problems: ["edge-1 is down"] }), /^c1: edge-1 is down$/],
    [(world) => world.report("c1", { rev: 100 }), /^c1 has not applied revision 101$/],
    [(world) => world.report("c1", { refused: "revision 101: it is damaged" }), /^c1 refused revision 101: it is damaged$/],
  ];
  for (const [harm, expected] of faults) {
    const world = start();
    world.publish();
    world.report("c2");
    harm(world);
    assert.match(String(world.pass(60)), expected);
    assert.equal(world.released(), 100);
  }
});

test("a pause holds everything, and what waited stays with the canaries once more after it", () => {
  const world = start();
  world.pause(true);
  world.publish(true);
  for (const name of ["c1", "c2"]) world.report(name);
  assert.equal(world.pass(100), null);
  assert.equal(world.released(), 100, "also what is urgent");
  world.pause(false);
  // The urgent one needs only the canaries.
  world.pass(1);
  assert.equal(world.released(), 101);
  const other = start();
  other.publish();
  for (const name of ["c1", "c2"]) other.report(name, { refused: "revision 101: it is damaged" });
  other.pause(true);
  other.pass(100);
  other.pause(false);
  assert.equal(other.pass(9), null, "the refusal is known");
  assert.equal(other.released(), 100);
  other.pass(3);
  assert.equal(other.released(), 101);
});

test("urgent changes wait only until the canaries have applied them, with all before them", () => {
  const world = start();
  world.publish();
  world.publish(true);
  world.publish();
  world.pass(1);
  assert.equal(world.released(), 100);
  world.report("c1", { rev: 102 });
  world.report("c2", { rev: 102 });
  world.pass(1);
  assert.equal(world.released(), 102);
  assert.ok(isUrgent([{ kind: "purge", id: "z", value: null }]));
  assert.ok(isUrgent([recordOp("z", "_acme-challenge.www.example.com", "TXT", '"x"')]));
  assert.ok(!isUrgent([recordOp("z", "www.example.com", "TXT", '"x"'), { kind: "record", id: "gone", value: null }]));
});

test("a process that takes over continues with what waits", () => {
  const world = start();
  const { rollout } = world;
  rollout.recall({ history: HISTORY, rev: 100, canaries: ["c1", "c2"], isPaused: true });
  assert.equal(rollout.start({ history: HISTORY, rev: 120 }), 100);
  rollout.published(110, true);
  rollout.published(120, false);
  world.pause(true);
  world.pass(5);
  assert.equal(world.released(), 100);
  world.pause(false);
  world.report("c1", { rev: 120 });
  world.pass(1);
  assert.equal(world.released(), 100, "the canaries of the process before count");
  world.report("c2", { rev: 120 });
  world.pass(1);
  assert.equal(world.released(), 110);
  world.pass(11);
  assert.equal(world.released(), 120);
  assert.equal(rollout.start({ history: "b".repeat(32), rev: 7 }), 7, "another history begins with a full copy");
});

test("without a connected canary all nodes follow at once, and a deaf control pauses nothing", () => {
  const away = start();
  away.reports.clear();
  away.pass(1);
  away.publish();
  assert.equal(away.pass(1), null);
  assert.equal(away.released(), 101);
  const deaf = start();
  deaf.publish();
  assert.equal(deaf.pass(300, { isDeaf: true }), null);
  assert.equal(deaf.released(), 100);
  const none = start([]);
  none.publish();
  none.pass(1);
  assert.equal(none.released(), undefined);
});

test("property: the release only grows, and never passes what a well canary has applied", () => {
  const step = fc.oneof(
    fc.record({ do: fc.constant("publish" as const), urgent: fc.boolean() }),
    fc.record({ do: fc.constant("report" as const), name: fc.constantFrom("c1", "c2"), back: fc.nat(3), ill: fc.boolean() }),
    fc.record({ do: fc.constant("pass" as const), seconds: fc.nat(20) }),
    fc.record({ do: fc.constant("pause" as const), value: fc.boolean() }),
  );
  fc.assert(
    fc.property(fc.array(step, { maxLength: 40 }), (steps) => {
      const world = start();
      const reached = new Map([
        ["c1", 100],
        ["c2", 100],
      ]);
      let before = 100;
      for (const one of steps) {
        if (one.do === "publish") world.publish(one.urgent);
        else if (one.do === "pass") world.pass(one.seconds);
        else if (one.do === "pause") world.pause(one.value);
        else {
          const rev = Math.max(reached.get(one.name) ?? 0, world.head() - one.back);
          reached.set(one.name, rev);
          world.report(one.name, { rev, problems: one.ill ? ["edge-1 is down"] : [] });
        }
        const released = world.released() ?? -1;
        assert.ok(released >= before && released <= Math.min(...reached.values()));
        before = released;
      }
    }),
  );
});
