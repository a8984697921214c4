import assert from "node:assert/strict";
import { zoneVersion } from "../../../test/support/fake-primary.ts";
import { storeTest } from "../../../test/support/store.ts";
import { planFull } from "./plan-transfer.ts";

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
