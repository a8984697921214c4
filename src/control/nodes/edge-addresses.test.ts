import assert from "node:assert/strict";
import { test } from "node:test";
import { systemClock } from "#kernel/clock.ts";
import { controlOver } from "../../../test/support/control.ts";
import { fc } from "../../../test/support/property.ts";
import { storeTest } from "../../../test/support/store.ts";
import { answersOf, createEdgeAddresses, edgeAddressesEntry, forgetEdgeAddresses } from "./edge-addresses.ts";
import { createNodes } from "./nodes.ts";

const address = fc.constantFrom("192.0.2.1", "192.0.2.2", "192.0.2.3", "2001:db8::1", "2001:db8::2");
const nodeNames = ["a", "b", "c"];

test("property: no family is ever without addresses, and no other address than those of healthy nodes is there unless all are ill", () => {
  fc.assert(
    fc.property(
      fc.array(address, { maxLength: 2 }),
      fc.array(fc.uniqueArray(address, { minLength: 1, maxLength: 3 }), { minLength: 1, maxLength: 3 }),
      fc.subarray(nodeNames),
      (fixed, lists, well) => {
        const nodes = lists.map((addresses, i) => ({ name: nodeNames[i]!, addresses }));
        const all = new Set([...fixed, ...lists.flat()]);
        const answers = answersOf(fixed, nodes, new Set(well));
        assert.equal(new Set(answers).size, answers.length);
        for (const isIpv6 of [false, true]) {
          const of = (list: Iterable<string>): string[] => [...list].filter((text) => text.includes(":") === isIpv6).sort();
          const good = of(
            [...all].filter((text) => {
              const owners = nodes.filter(({ addresses }) => addresses.includes(text));
              return owners.length === 0 || owners.some(({ name }) => well.includes(name));
            }),
          );
          assert.deepEqual(of(answers), good.length > 0 ? good : of(all));
        }
      },
    ),
  );
});

storeTest("the addresses in answers follow the nodes' health, and secondaries hear of it by the serial", async ({ store }) => {
  const { control, account_id, call } = await controlOver(store);
  const { id, name } = await control.zones.create(call(), { name: "transferred.example", account: { id: account_id } });
  const zone = { id, name, account_id };
  const peer = await control.transfers.peers.create(call(), account_id, { name: "p", ip: "192.0.2.1", port: 5353 });
  await control.transfers.outgoing.create(call(), zone, { peers: [peer.id] });
  await control.transfers.enable(call(), zone, true);
  const serial = async (): Promise<number> =>
    (await store.read.selectFrom("zones").select("serial").where("id", "=", id).executeTakeFirstOrThrow()).serial;
  const first = await serial();

  const ill = new Set<string>();
  const known: string[] = [];
  let noneHealthy = 0;
  let nowMs = 0;
  const clock = { ...systemClock, monotonicMs: () => nowMs };
  const edges = createEdgeAddresses({
    ...{ store, clock, fixed: ["198.51.100.1"] },
    isWell: (node) => !ill.has(node),
    onKnown: (addresses) => void known.push(addresses.join()),
    onChanged: () => undefined,
    onNoneHealthy: () => noneHealthy++,
  });
  const look = async (seconds: number, mayWrite = true): Promise<void> => {
    for (let i = 0; i < seconds; i++) {
      nowMs += 1_000;
      await edges.look({ mayWrite, isDeaf: false });
    }
  };
  const answered = async (): Promise<readonly string[] | undefined> => (await edgeAddressesEntry(store.read))?.addresses;
  const nodes = createNodes({ store, clock: systemClock });
  const join = async (node: string, planes: readonly ("edge" | "nameserver")[], addresses: readonly string[]): Promise<void> => {
    const { token } = await nodes.create(node, planes, 60_000, { addresses });
    await nodes.join(token, `U${node}`);
  };
  await look(3);
  assert.equal(await answered(), undefined, "no node has addresses");
  await assert.rejects(nodes.create("ns", ["nameserver"], 60_000, { addresses: ["192.0.2.9"] }), /has no edge/);
  await assert.rejects(nodes.create("wrong", ["edge"], 60_000, { addresses: ["192.0.2"] }), /"192.0.2" is not an IP address/);
  await join("fra", ["edge"], ["192.0.2.10", "2001:DB8::10"]);
  await join("ams", ["edge", "nameserver"], []);
  await look(20, false);
  assert.equal(await answered(), undefined, "another process decides");
  await look(1);
  assert.deepEqual(await answered(), ["198.51.100.1", "192.0.2.10", "2001:db8::10"]);
  await look(2);
  assert.equal(await serial(), first + 1);

  assert.equal(await nodes.change("ams", { addresses: ["192.0.2.20"] }), true);
  assert.equal(await nodes.change("gone", { addresses: ["192.0.2.20"] }), false);
  await look(20);
  assert.deepEqual(await answered(), ["198.51.100.1", "192.0.2.20", "192.0.2.10", "2001:db8::10"]);
  assert.deepEqual(known, ["192.0.2.10,2001:db8::10", "192.0.2.20,192.0.2.10,2001:db8::10"]);
  ill.add("fra");
  await look(15);
  assert.deepEqual(await answered(), ["198.51.100.1", "192.0.2.20", "2001:db8::10"], "it has the only address of its family");
  const shown = Object.fromEntries((await nodes.list()).map((node) => [node.name, node.in_answers]));
  assert.deepEqual(shown, { fra: false, ams: true });
  await nodes.remove("fra");
  await look(1);
  assert.deepEqual(await answered(), ["198.51.100.1", "192.0.2.20"]);
  await look(2);
  assert.equal(await serial(), first + 4, "once for each change");
  await look(10);
  assert.equal(await serial(), first + 4);
  await nodes.remove("ams");
  await look(3);
  assert.deepEqual([await answered(), await serial()], [undefined, first + 5], "no node has addresses");
  ill.clear();
  await join("fra", ["edge"], ["192.0.2.10"]);
  await look(20);
  assert.deepEqual(await answered(), ["198.51.100.1", "192.0.2.10"]);
  assert.equal(noneHealthy, 0);
  ill.add("fra");
  await look(20);
  assert.deepEqual([await answered(), noneHealthy], [["198.51.100.1"], 1], "it is said once");
  ill.clear();
  await look(20);
  await forgetEdgeAddresses({ store, clock: systemClock });
  assert.deepEqual([await answered(), await serial()], [undefined, first + 10]);
});
