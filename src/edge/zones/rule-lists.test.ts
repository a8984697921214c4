import assert from "node:assert/strict";
import { test } from "node:test";
import type { ListEntry, Op, ZoneEntry } from "#snapshot/entries.ts";
import { createMemoryReplica } from "#snapshot/memory-replica.ts";
import { countedWork } from "../../../test/support/counted-work.ts";
import { createRuleLists } from "./rule-lists.ts";
import { createZones } from "./zones.ts";

const ACCOUNT = "a";
const PARTS = 8;
const PER_PART = 4_096;

/** The nth item of each kind, and the value that finds it. */
const KINDS = {
  ip: [(n: number) => `10.${n >> 16}.${(n >> 8) & 255}.${n & 255}`, (n: number) => `10.${n >> 16}.${(n >> 8) & 255}.${n & 255}`],
  asn: [(n: number) => n, (n: number) => n],
  hostname: [(n: number) => ({ url_hostname: `h${n}.example` }), (n: number) => `h${n}.example`],
  redirect: [
    (n: number) => ({ source_url: `h${n}.example/`, target_url: "https://b.example", status_code: 301 }),
    (n: number) => `https://h${n}.example/`,
  ],
} as const;

const part = (kind: keyof typeof KINDS, number: number): ListEntry =>
  ({
    ...{ account_id: ACCOUNT, list_id: "l", name: kind, kind, part: number },
    items: Array.from({ length: PER_PART }, (_, i) => KINDS[kind][0](number * PER_PART + i)),
  }) as unknown as ListEntry;

for (const kind of Object.keys(KINDS) as (keyof typeof KINDS)[])
  test(`${kind} lists index a change in steps of some items, and have their old items until the change is indexed`, () => {
    const lists = createRuleLists();
    const [, asked] = KINDS[kind];
    lists.put("l/0", part(kind, 0));
    const list = lists.of(ACCOUNT).find(kind) ?? assert.fail("no list");
    assert.equal(list.has(asked(1)), true, "one that held nothing is made when it is asked");
    while (lists.step());
    for (let n = 1; n < PARTS; n++) lists.put(`l/${n}`, part(kind, n));
    const last = PARTS * PER_PART - 1;
    let most = 0;
    let steps = 0;
    for (let more = true; more; steps++) {
      assert.equal(list.has(asked(last)), false, "nobody sees half of a change");
      assert.equal(list.has(asked(1)), true);
      const work = countedWork(() => {
        more = lists.step();
      });
      most = Math.max(most, work);
    }
    assert.equal(list.has(asked(last)), true);
    assert.equal(list.has(asked(1)), true);
    assert.ok(steps >= PARTS - 1, `${steps} steps`);
    // A part with addresses is sorted in one step.
    assert.ok(most <= 12 * PER_PART, `${most} in one step`);
  });

test("the edge indexes the lists of its first snapshot before it serves requests", () => {
  const zone = { id: "z", account_id: ACCOUNT, name: "a.example", status: "active" } as ZoneEntry;
  const parts = Array.from({ length: PARTS }, (_, n): Op => ({ kind: "list", id: `l/${n}`, value: part("redirect", n) }));
  const replica = createMemoryReplica([{ kind: "zone", id: "z", value: zone }, ...parts]);
  const zones = createZones(replica, () => {});
  let found = false;
  const work = countedWork(() => {
    found =
      zones
        .byId("z")
        ?.redirects("redirect")
        ?.has(KINDS.redirect[1](PARTS * PER_PART - 1)) ?? false;
  });
  assert.ok(found);
  assert.ok(work < PER_PART, `${work} for the first request`);
});
