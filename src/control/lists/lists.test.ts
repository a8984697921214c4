import assert from "node:assert/strict";
import { isoMicros, systemClock } from "#kernel/clock.ts";
import { newId } from "#kernel/crypto/ids.ts";
import type { RuleListItemWrite } from "#model/rulesets/rule-list.ts";
import type { ListEntry } from "#snapshot/entries.ts";
import { rebuildSnapshot } from "#control/rebuild.ts";
import type { Store } from "#store/database/store.ts";
import { deleteRuleList, deleteSomeItems, insertOperation } from "#store/rulesets/rule-lists.ts";
import { controlOver } from "../../../test/support/control.ts";
import { failing } from "../../../test/support/failing.ts";
import { storeTest } from "../../../test/support/store.ts";

storeTest("lists: create, get, describe and delete; names are unique in the account", async ({ store }) => {
  const { control, account_id, call } = await controlOver(store, { ruleListLimits: { listsMax: 2 } });
  const { ruleLists } = control;
  const list = await ruleLists.create(call(), account_id, { name: "office", kind: "ip", description: "where we are" });
  assert.deepEqual([list.num_items, list.num_referencing_filters, list.description], [0, 0, "where we are"]);
  await assert.rejects(ruleLists.create(call(), account_id, { name: "office", kind: "asn" }), failing(10006, "/name"));
  const other = await ruleLists.create(call(), account_id, { name: "asns", kind: "asn" });
  await assert.rejects(ruleLists.create(call(), account_id, { name: "third", kind: "asn" }), failing(10006, ""));
  assert.deepEqual(
    (await ruleLists.list(account_id)).map(({ name }) => name),
    ["asns", "office"],
  );
  assert.equal((await ruleLists.update(call(), account_id, list.id, { description: "home" })).description, "home");
  await ruleLists.delete(call(), account_id, other.id);
  await assert.rejects(ruleLists.get(account_id, other.id), failing(10005));
  await assert.rejects(ruleLists.get("0".repeat(32), list.id), failing(10005));
});

storeTest("items: add, replace, remove and search, as operations that complete", async ({ store }) => {
  const { control, account_id, call } = await controlOver(store, { ruleListLimits: { itemsMax: 4 } });
  const { ruleLists, ruleListItems: items } = control;
  const { id } = await ruleLists.create(call(), account_id, { name: "l", kind: "ip" });
  const ended = async ({ operation_id }: { operation_id: string }): Promise<string> => {
    await items.idle();
    const { status, error = "" } = await items.operation(account_id, operation_id);
    return `${status} ${error}`.trim();
  };
  const shown = async (search?: string) =>
    (await items.list(account_id, id, { per_page: 500 }, search)).items
      .map(({ ip, comment }) => `${ip} ${comment ?? ""}`.trim())
      .toSorted();
  const written: RuleListItemWrite[] = [{ ip: "192.0.2.7", comment: "Gate" }, { ip: "2001:DB8::1" }, { ip: "198.51.100.9/24" }];
  assert.equal(await ended(await items.add(call(), account_id, id, written)), "completed");
  assert.deepEqual(await shown(), ["192.0.2.7 Gate", "198.51.100.0/24", "2001:db8::1"]);
  assert.equal(await ended(await items.add(call(), account_id, id, [{ ip: "192.0.2.7", comment: "door" }])), "completed");
  assert.deepEqual(await shown("DOOR"), ["192.0.2.7 door"]);
  assert.deepEqual(await shown("%"), []);
  assert.match(
    await ended(await items.add(call(), account_id, id, [{ ip: "10.0.0.1" }, { ip: "10.0.0.2" }])),
    /^failed a list has at most 4 items; it would have 5$/,
  );
  assert.equal(await ended(await items.replace(call(), account_id, id, [{ ip: "2001:db8::1" }, { ip: "10.0.0.1" }])), "completed");
  assert.deepEqual(await shown(), ["10.0.0.1", "2001:db8::1"]);
  const [first] = (await items.list(account_id, id, { per_page: 1 }, undefined)).items;
  assert.ok(first);
  assert.deepEqual(await items.get(account_id, id, first.id), first);
  assert.equal(await ended(await items.remove(call(), account_id, id, { items: [{ id: first.id }, { id: "nothing" }] })), "completed");
  assert.equal((await ruleLists.get(account_id, id)).num_items, 1);
  for (const [at, item] of [{ ip: "nowhere" }, { asn: 1 }, {}, { ip: "10.0.0.1", asn: 1 }].entries())
    await assert.rejects(items.add(call(), account_id, id, [...written.slice(0, at), item]), failing(10006, `/${Math.min(at, 3)}`));
});

storeTest(
  "an operation that the end of its process interrupted is failed after the next start, unless another server may be at work",
  async ({ store }) => {
    const { control, account_id, call } = await controlOver(store);
    const { id: list_id } = await control.ruleLists.create(call(), account_id, { name: "l", kind: "ip" });
    const id = newId();
    const created_on = isoMicros(systemClock.nowMicros() - 1_000_000);
    await store.write(({ db }) =>
      insertOperation(db, { id, account_id, list_id, status: "pending", error: null, created_on, completed: null }),
    );
    const { status } = await control.ruleListItems.operation(account_id, id);
    assert.equal(status, store.dialect === "sqlite" ? "failed" : "pending");
  },
);

storeTest("a deleted list disappears at once, and its items are deleted some per transaction", async ({ store }) => {
  const { control, account_id, call } = await controlOver(store);
  const { ruleLists, ruleListItems: items } = control;
  const { id } = await ruleLists.create(call(), account_id, { name: "l", kind: "asn" });
  await items.add(
    call(),
    account_id,
    id,
    Array.from({ length: 1_200 }, (_, asn) => ({ asn })),
  );
  await items.idle();
  const left = async (db: Store["read"]): Promise<number> =>
    (await db.selectFrom("rule_list_items").select("id").where("list_id", "=", id).execute()).length;
  assert.equal(await left(store.read), 1_200);
  const units: number[] = [];
  await store.write(async ({ db }) => {
    await deleteRuleList(db, id, 0);
    units.push(await left(db));
  });
  await assert.rejects(ruleLists.get(account_id, id), failing(10005));
  for (let more = true; more;) {
    more = (await store.write(({ db }) => deleteSomeItems(db, id, 500))).result;
    units.push(await left(store.read));
  }
  assert.deepEqual(units, [1_200, 700, 200, 0]);
  assert.equal(await control.removals.run(call()), 1);

  const again = await ruleLists.create(call(), account_id, { name: "l", kind: "asn" });
  await items.add(call(), account_id, again.id, [{ asn: 1 }]);
  await items.idle();
  await ruleLists.delete(call(), account_id, again.id);
  await control.removals.run(call());
  assert.equal((await store.read.selectFrom("rule_list_items").select("id").execute()).length, 0);
});

storeTest("items of each kind have one canonical form", async ({ store }) => {
  const { control, account_id, call } = await controlOver(store);
  const { ruleLists, ruleListItems: items } = control;
  const kinds = {
    asn: [[{ asn: 64496 }], [{ asn: -1 }, { ip: "192.0.2.1" }]],
    hostname: [
      [{ hostname: { url_hostname: "*.Example.com", exclude_exact_hostname: true } }, { hostname: { url_hostname: "bücher.example" } }],
      [{ hostname: { url_hostname: "a b" } }, { hostname: { url_hostname: "example.com", exclude_exact_hostname: true } }],
    ],
    redirect: [
      [{ redirect: { source_url: "https://Example.com/a", target_url: "https://example.net/b" } }],
      [
        { redirect: { source_url: "example.com", target_url: "/b" } },
        { redirect: { source_url: "example.com/%zz", target_url: "https://example.net" } },
        { redirect: { source_url: "/a", target_url: "https://example.net" } },
      ],
    ],
  } as const;
  for (const [kind, [good, bad]] of Object.entries(kinds)) {
    const { id } = await ruleLists.create(call(), account_id, { name: kind, kind: kind as keyof typeof kinds });
    await items.add(call(), account_id, id, good);
    await items.idle();
    assert.equal((await ruleLists.get(account_id, id)).num_items, good.length);
    for (const item of bad) await assert.rejects(items.add(call(), account_id, id, [item]), failing(10006, "/0"), JSON.stringify(item));
  }
});

storeTest("a list in use by a rule cannot be deleted, and a rule that names an unknown list is refused", async ({ store }) => {
  const { control, account_id, call } = await controlOver(store);
  const { ruleLists, rulesets, zones } = control;
  const zone = await zones.create(call(), { name: "example.test", account: { id: account_id } });
  const scope = { level: "zone", account_id, zone_id: zone.id, plan: "enterprise", actor: call().actor } as const;
  const phase = "http_request_firewall_custom";
  const rules = [{ action: "block", expression: "ip.src in $office" }];
  await assert.rejects(rulesets.putEntryPoint(call(), scope, phase, { rules }), failing(20127, "/rules/0/expression"));
  const { id } = await ruleLists.create(call(), account_id, { name: "office", kind: "ip" });
  await rulesets.putEntryPoint(call(), scope, phase, { rules });
  assert.equal((await ruleLists.get(account_id, id)).num_referencing_filters, 1);
  await assert.rejects(ruleLists.delete(call(), account_id, id), failing(10007));
  const wrongKind = [{ action: "block", expression: "http.host in $office" }];
  await assert.rejects(rulesets.putEntryPoint(call(), scope, phase, { rules: wrongKind }), failing(20127, "/rules/0/expression"));
  const { id: longer } = await ruleLists.create(call(), account_id, { name: "office_2", kind: "ip" });
  await ruleLists.delete(call(), account_id, longer);
  await rulesets.putEntryPoint(call(), scope, phase, { rules: [] });
  await ruleLists.delete(call(), account_id, id);
});

storeTest("a long list reaches the planes in parts, and a change sends only its own part", async ({ store }) => {
  const { control, account_id, call } = await controlOver(store);
  const { ruleLists, ruleListItems: items } = control;
  const { id } = await ruleLists.create(call(), account_id, { name: "long", kind: "ip" });
  const address = (n: number): string => `10.${n >> 16}.${(n >> 8) & 255}.${n & 255}`;
  await items.replace(
    call(),
    account_id,
    id,
    Array.from({ length: 9000 }, (_, n) => ({ ip: address(n) })),
  );
  await items.idle();
  const entries = async (): Promise<Map<string, ListEntry>> =>
    new Map((await rebuildSnapshot(store)).ops.flatMap((op) => (op.kind === "list" && op.value ? [[op.id, op.value] as const] : [])));
  const before = await entries();
  assert.deepEqual(
    [...before.keys()].toSorted(),
    [0, 1, 2, 3].map((part) => `${id}/${part}`),
  );
  assert.equal(new Set([...before.values()].flatMap((entry) => entry.items)).size, 9000);
  const rev = await store.revision();
  await items.add(call(), account_id, id, [{ ip: "192.0.2.1" }]);
  await items.idle();
  const [delta] = (await store.changesSince(rev, 10)) ?? [];
  assert.equal(delta?.changes.length, 1);
  // The deltas give the same result as a rebuild.
  const change = delta?.changes[0];
  assert.deepEqual(new Set((change?.value as ListEntry | undefined)?.items), new Set((await entries()).get(change?.id ?? "")?.items));
  await items.replace(call(), account_id, id, [{ ip: "192.0.2.1" }]);
  await items.idle();
  const after = await entries();
  assert.deepEqual([...after.keys()], [`${id}/0`]);
  const gone = ((await store.changesSince(rev + 1, 10)) ?? []).flatMap(({ changes }) => changes).filter(({ value }) => value === null);
  assert.equal(gone.length, 3);
});
