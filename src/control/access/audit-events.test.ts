import assert from "node:assert/strict";
import { controlOver } from "../../../test/support/control.ts";
import { failing } from "../../../test/support/failing.ts";
import { storeTest } from "../../../test/support/store.ts";

storeTest("the second form of the audit log: who did what to what, by kind, object and zone, in pages", async ({ store }) => {
  const { control, account_id, call } = await controlOver(store, { ownership: { activation: "at_once" } });
  const [first, second] = [
    await control.zones.create(call(), { name: "one.example", account: { id: account_id } }),
    await control.zones.create(call(), { name: "two.example", account: { id: account_id } }),
  ];
  await control.zones.edit(call(), first.id, { paused: true });
  await control.zones.delete(call(), second.id);
  const times = { since: "2000-01-01", before: "2100-01-01" };
  const list = async (query: object, page: { per_page: number; cursor?: string } = { per_page: 50 }) =>
    control.access.auditEvents.list(account_id, { ...times, ...query }, page);
  const shown = async (query: object) =>
    (await list(query)).items.map(({ action, resource }) => [action.type, action.description, resource.id === first.id ? 1 : 2]);
  assert.deepEqual(await shown({ resource_type: "zone" }), [
    ["delete", "zone.delete", 2],
    ["update", "zone.edit", 1],
    ["create", "zone.create", 2],
    ["create", "zone.create", 1],
  ]);
  assert.deepEqual(await shown({ resource_type: "zone", action_type: "update" }), [["update", "zone.edit", 1]]);
  assert.deepEqual(await shown({ action_type: "create", zone_name: "ONE.example", direction: "asc", resource_id: first.id }), [
    ["create", "zone.create", 1],
  ]);
  assert.deepEqual(await shown({ zone_id: second.id, actor_email: "nobody@example.com" }), []);
  const { items, after } = await list({ resource_type: "zone" }, { per_page: 3 });
  assert.equal(items.length, 3);
  const rest = await list({ resource_type: "zone" }, { per_page: 3, cursor: after ?? "" });
  assert.deepEqual([rest.items.map(({ resource }) => resource.id), rest.after], [[first.id], null]);
  assert.deepEqual(items[1]?.zone, { id: first.id, name: "one.example" });
  assert.deepEqual(items[1]?.account, { id: account_id, name: items[1]?.account.name });
  await assert.rejects(list({ since: "yesterday" }), failing(10400));
  await assert.rejects(list({}, { per_page: 5, cursor: "%" }), failing(10400));
});
