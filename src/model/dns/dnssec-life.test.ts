import assert from "node:assert/strict";
import { test } from "node:test";
import { fc } from "../../../test/support/property.ts";
import {
  keyForParent,
  disabled,
  type DnssecLife,
  enabled,
  afterParentCheck,
  newLife,
  type ParentDs,
  rolled,
  signingKey,
  type ZoneTimes,
} from "./dnssec-life.ts";

const HOUR_MS = 3_600_000;
const TIMES: ZoneTimes = { dnskey_ttl: 3600, zone_ttl: 86_400, propagation: 12_400 };
/** The lag of the parent's servers, and the time for which a resolver caches an absence; together the assumed three hours. */
const PARENT_LAG_MS = 1.5 * HOUR_MS;
const NEGATIVE_MS = 1.5 * HOUR_MS;
const STEADY_MS = 7 * HOUR_MS;

/** A value that was said from a point in time on. */
interface Said<T> {
  readonly from: number;
  readonly value: T;
}
interface Publication {
  readonly keys: readonly string[];
  readonly signer: string | null;
  readonly cds: string | "delete" | null;
}

const publication = (life: DnssecLife): Publication =>
  life.status === "disabled"
    ? { keys: [], signer: null, cds: null }
    : { keys: life.keys, signer: signingKey(life), cds: life.status === "pending-disabled" ? "delete" : keyForParent(life) };

/** Everything that was said at some moment since `from`. */
const since = <T>(history: readonly Said<T>[], from: number): T[] =>
  history.filter((_, index) => (history[index + 1]?.from ?? Infinity) >= from).map(({ value }) => value);

/** A zone, its parent, and everything that a cache may still hold of either. */
class World {
  /** The time that passes for everybody. */
  now = Date.parse("2026-01-01T00:00:00Z");
  life: DnssecLife = newLife("key-0", this.now);
  keysMade = 1;
  /** By how much the server's clock differs. */
  skew = 0;
  enabledOn = 0;
  readonly published: Said<Publication>[] = [{ from: 0, value: publication(this.life) }];
  readonly parent: Said<readonly string[]>[] = [{ from: 0, value: [] }];
  readonly dsTtlSeconds: number;
  constructor(dsTtlSeconds: number) {
    this.dsTtlSeconds = dsTtlSeconds;
  }

  /** The server's own time. */
  get clock(): number {
    return this.now + this.skew;
  }

  become(life: DnssecLife): void {
    if (this.life.status === "disabled" && life.status !== "disabled") this.enabledOn = this.now;
    this.life = life;
    const value = publication(life);
    if (JSON.stringify(value) !== JSON.stringify(this.published.at(-1)?.value)) this.published.push({ from: this.now, value });
  }

  /** A parent changes at most once between two checks, of which one may find a resolver's cached data. */
  say(ds: readonly string[]): void {
    if (this.now >= (this.parent.at(-1)?.from ?? 0) + STEADY_MS) this.parent.push({ from: this.now, value: ds });
  }

  /** DS sets that somebody may hold. */
  dsKnown(): (readonly string[])[] {
    return since(this.parent, this.now - PARENT_LAG_MS - this.dsTtlSeconds * 1000);
  }

  /** A possible answer of a resolver: it caches an absence for less time than a set. */
  look(pick: number): ParentDs {
    const absences = since(this.parent, this.now - PARENT_LAG_MS - NEGATIVE_MS).filter((ds) => ds.length === 0);
    const possible = [...this.dsKnown().filter((ds) => ds.length > 0), ...absences];
    return { named: possible[pick % possible.length] ?? [], ttl: this.dsTtlSeconds };
  }

  /** Throws where there is a validator that cannot validate, with parts that it may have got at different moments. */
  check(): void {
    const lag = TIMES.propagation * 1000;
    const keySets = since(this.published, this.now - lag - TIMES.dnskey_ttl * 1000);
    const signers = since(this.published, this.now - lag - TIMES.zone_ttl * 1000);
    for (const ds of this.dsKnown()) {
      if (ds.length === 0) continue;
      for (const { keys } of keySets) {
        assert.ok(
          keys.some((key) => ds.includes(key)),
          `DS ${ds} and DNSKEY ${keys}`,
        );
        for (const { signer } of signers)
          assert.ok(signer !== null && keys.includes(signer), `DS ${ds}, DNSKEY ${keys}, signed by ${signer}`);
      }
    }
  }
}

type Event = (world: World, pick: number) => void;

const EVENTS: Readonly<Record<string, Event>> = {
  enable: (world) => world.become(enabled(world.life, world.clock)),
  disable: (world, pick) => {
    const seen = pick % 4 === 0 ? null : world.look(pick);
    // A zone that never was active must not be turned off just after its DS was given to the parent: it could not be
    // visible yet.
    const { from, value } = world.parent.at(-1) as Said<readonly string[]>;
    const hidden = value.length > 0 && world.now <= from + PARENT_LAG_MS + NEGATIVE_MS;
    const unknown = world.life.ds_ttl === 0 && world.dsKnown().some((ds) => ds.length > 0);
    const blind = seen === null ? world.life.looked_on === null : seen.named.length === 0;
    if (world.life.status !== "pending" || !(blind && (hidden || unknown))) world.become(disabled(world.life, seen, world.clock));
  },
  roll: (world) => {
    const life = rolled(world.life, `key-${world.keysMade}`, world.clock);
    if (life) {
      world.keysMade++;
      world.become(life);
    }
  },
  look: (world, pick) => world.become(afterParentCheck(world.life, world.look(pick), TIMES, world.clock)),
  lookFails: (world) => world.become(afterParentCheck(world.life, null, TIMES, world.clock)),
  /** RFC 8078 §3, RFC 7344 §4.1: a parent takes a first DS after a while, and never one that does not validate. */
  parentObeys: (world, pick) => {
    const asked = since(world.published, world.now - TIMES.propagation * 1000).map(({ cds }) => cds);
    const cds = asked[pick % asked.length];
    const current = world.parent.at(-1)?.value ?? [];
    if (cds === "delete") world.say([]);
    else if (cds && world.published.at(-1)?.value.keys.includes(cds)) {
      const waited = world.now >= world.enabledOn + (TIMES.zone_ttl + TIMES.propagation) * 1000;
      if (current.length > 0 || waited) world.say(pick % 3 === 0 ? [...new Set([...current, cds])] : [cds]);
    }
  },
  /** Further than looks are apart. */
  clockJumps: (world, pick) => {
    world.skew = world.skew !== 0 && pick % 2 === 0 ? 0 : (4 + pick) * HOUR_MS * (pick % 3 === 0 ? -1 : 1);
  },
  parentForgets: (world) => world.say([]),
};

/** The parent's forgetting would end most lives early. */
const WEIGHTS: Readonly<Record<string, number>> = { look: 6, parentObeys: 4, roll: 2, enable: 2 };

const step = fc.record({
  event: fc.oneof(...Object.keys(EVENTS).map((name) => ({ weight: WEIGHTS[name] ?? 1, arbitrary: fc.constant(name) }))),
  pick: fc.nat(1000),
  hours: fc.oneof(fc.constant(0), fc.nat(6), fc.nat(60)),
  watched: fc.boolean(),
});

interface Step {
  readonly event: string;
  readonly pick: number;
  readonly hours: number;
  readonly watched: boolean;
}

const BEGINNING: Step = { event: "enable", pick: 0, hours: 40, watched: true };

/** Lives the steps after one another, and throws as soon as somebody cannot validate. */
function live(world: World, steps: readonly Step[], reached = new Set<string>()): void {
  for (const { event, pick, hours, watched } of [BEGINNING, ...steps]) {
    EVENTS[event]?.(world, pick);
    world.check();
    reached.add(world.life.status).add(world.life.rollover);
    assert.ok(world.life.keys.length === (world.life.rollover === "none" ? 1 : 2));
    for (let hour = 1; hour <= hours; hour++) {
      world.now += HOUR_MS;
      if (watched) EVENTS["look"]?.(world, pick * hour);
      world.check();
    }
  }
}

test("property: at any time, a resolver with cached data within its TTL can validate", () => {
  const reached = new Set<string>();
  fc.assert(
    fc.property(fc.constantFrom(300, 3600, 86_400, 172_800), fc.array(step, { minLength: 10, maxLength: 120 }), (dsTtl, steps) =>
      live(new World(dsTtl), steps, reached),
    ),
    { numRuns: 600 },
  );
  assert.deepEqual([...reached].sort(), [
    "active",
    "disabled",
    "error",
    "none",
    "pending",
    "pending-disabled",
    "publish",
    "retire",
    "submit",
  ]);
});

test("a zone turned off soon after DNSSEC was turned on again stays signed while a parent may read the old CDS", () => {
  const at = (event: string, pick: number, hours: number, watched: boolean): Step => ({ event, pick, hours, watched });
  live(new World(300), [
    at("parentObeys", 0, 0, false),
    at("look", 0, 0, false),
    at("roll", 0, 0, false),
    at("disable", 0, 7, false),
    at("parentObeys", 0, 1, false),
    at("clockJumps", 0, 1, true),
    at("enable", 0, 5, true),
    at("disable", 0, 3, true),
    at("parentObeys", 43, 1, true),
    at("look", 0, 0, false),
  ]);
});

test("if the parent follows, a rollover completes, and so does turning DNSSEC off", () => {
  fc.assert(
    fc.property(fc.constantFrom(300, 86_400, 172_800), fc.integer({ min: 1, max: 3 }), (dsTtl, everyHours) => {
      const world = new World(dsTtl);
      const pass = (hours: number): void => {
        for (const end = world.now + hours * HOUR_MS; world.now < end; world.now += everyHours * HOUR_MS) {
          EVENTS["parentObeys"]?.(world, 1);
          world.become(afterParentCheck(world.life, { named: world.parent.at(-1)?.value ?? [], ttl: dsTtl }, TIMES, world.now));
          world.check();
        }
      };
      EVENTS["enable"]?.(world, 0);
      pass(72);
      assert.deepEqual([world.life.status, world.life.keys], ["active", ["key-0"]]);
      EVENTS["roll"]?.(world, 0);
      assert.equal(world.life.rollover, "publish");
      pass(168);
      assert.deepEqual([world.life.status, world.life.rollover, world.life.keys], ["active", "none", ["key-1"]]);
      world.become(disabled(world.life, world.look(0), world.now));
      assert.equal(world.life.status, "pending-disabled");
      pass(120);
      assert.deepEqual([world.life.status, world.life.keys, world.parent.at(-1)?.value], ["disabled", ["key-1"], []]);
    }),
    { numRuns: 40 },
  );
});

test("an active zone without its DS is in error until it is back, and a DS that vanishes for hours is not an error", () => {
  const hours = (count: number): number => count * HOUR_MS;
  const see = (life: DnssecLife, named: readonly string[], now: number) => afterParentCheck(life, { named, ttl: 3600 }, TIMES, now);
  const active = see(enabled(newLife("a", 0), 0), ["a"], hours(1));
  assert.equal(active.status, "active");
  const flapping = see(see(active, [], hours(2)), ["a"], hours(4));
  assert.equal(flapping.status, "active");
  const unseen = see(see(flapping, [], hours(5)), [], hours(9));
  assert.equal(unseen.status, "active", "nobody looked in between");
  const gone = see(unseen, [], hours(12));
  assert.equal(gone.status, "error");
  assert.equal(rolled(gone, "b", hours(12)), undefined);
  assert.equal(see(gone, ["a"], hours(13)).status, "active");
});

test("an unreachable parent changes nothing, and DNSSEC is turned off at once only if the parent was never reachable", () => {
  const pending = enabled(newLife("a", 0), 0);
  assert.equal(afterParentCheck(pending, null, TIMES, HOUR_MS), pending);
  assert.equal(disabled(pending, null, HOUR_MS).status, "disabled");
  assert.equal(disabled(pending, { named: [], ttl: 0 }, HOUR_MS).status, "disabled");
  assert.equal(disabled(pending, { named: ["a"], ttl: 60 }, HOUR_MS).status, "pending-disabled");
  const seenOnce = afterParentCheck(pending, { named: [], ttl: 0 }, TIMES, HOUR_MS);
  assert.equal(disabled(seenOnce, null, 2 * HOUR_MS).status, "pending-disabled");
});
