import assert from "node:assert/strict";
import { controlOver } from "../../../test/support/control.ts";
import { zoneVersion } from "../../../test/support/fake-primary.ts";
import { storeTest } from "../../../test/support/store.ts";
import { TYPE } from "#wire/dns/codes.ts";
import { planDifferences, planFull } from "./plan-transfer.ts";

const NAME = "zone.example";
const zone = { id: "0".repeat(32), name: NAME };

storeTest("records of a transfer are written in the order of their arrival, however many they are", async ({ store }) => {
  const planned = async (count: number): Promise<string[]> => {
    const hosts = Array.from({ length: count }, (_, i) => `h${i}.${NAME} 300 A 192.0.2.1`);
    const { soa, records } = zoneVersion(NAME, 1, [`${NAME} 300 NS ns1.${NAME}.`, ...hosts, hosts[0]!.replace(" 300 ", " 600 ")]);
    const { added } = await planFull({ db: store.read, zone, apex: null }, { kind: "full", soa, records });
    assert.equal(added.size, count);
    return Array.from(added.prepared(), ({ name, ttl }) => `${name} ${ttl}`);
  };
  for (const count of [100, 10_000]) {
    const others = Array.from({ length: count - 1 }, (_, i) => `h${i + 1}.${NAME} 300`);
    const written = await planned(count);
    // The last of two duplicates counts.
    assert.ok(written.join() === [...others, `h0.${NAME} 600`].join(), `${count} records: ${written.slice(0, 3).join(", ")}`);
  }
});

storeTest("a record that leaves costs the names that leave with it, in a whole zone and in differences", async ({ store }) => {
  const { control, account_id, call } = await controlOver(store);
  const { id } = await control.zones.create(call(), { name: NAME, account: { id: account_id } });
  const deep = Array.from({ length: 5 }, (_, i) => `${"l.".repeat(30)}n${i}.${NAME} 300 A 192.0.2.1`);
  const file = deep.map((line) => line.replace(" ", ". ")).join("\n");
  await control.zoneFiles.import(call(), { id, name: NAME, account_id, plan: "enterprise" }, `${file}\n`, { proxied: false });
  const scene = { db: store.read, zone: { id, name: NAME } };
  const servers = [`${NAME} 300 NS ns1.${NAME}.`];
  const { soa, records } = zoneVersion(NAME, 2, servers);
  const whole = await planFull({ ...scene, apex: null }, { kind: "full", soa, records });
  const old = zoneVersion(NAME, 1, [...servers, ...deep]);
  const removed = old.records.filter(({ type }) => type === TYPE.A);
  const differences = [{ from: 1, to: 2, removed, added: [] }];
  const differing = await planDifferences({ ...scene, apex: whole.apex }, { soa, differences });
  for (const { changes } of [whole, differing])
    assert.deepEqual(
      changes.deletes.map(({ cost }) => cost),
      deep.map((_, i) => (i === 0 ? 33 : 31)),
    );
});
