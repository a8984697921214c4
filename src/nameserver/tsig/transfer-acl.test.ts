import assert from "node:assert/strict";
import { test } from "node:test";
import { parseIp } from "#kernel/net/ip.ts";
import type { Op } from "#snapshot/entries.ts";
import { createMemoryReplica } from "#snapshot/memory-replica.ts";
import { SEALER } from "../../../test/support/nameserver.ts";
import { PLAIN_PEER, transferOp, tsigEntry } from "../../../test/support/transfers.ts";
import { createTransferPartners } from "./transfer-acl.ts";

const KEYED = { ip: "192.0.2.1", port: 53, tsig: tsigEntry("k1", "one.example", Buffer.alloc(32, 1)) };
const KEYLESS = { ...PLAIN_PEER, ip: "2001:DB8::1" };
const address = (text: string): Uint8Array => parseIp(text)?.bytes ?? new Uint8Array();

const sideOf = (op: Op) => {
  const side = createTransferPartners(createMemoryReplica([op]).snapshot, SEALER).outgoing("z");
  assert.ok(side);
  return side;
};

test("a peer with a key is admitted by the key alone, and other peers by their address", () => {
  const { keys, admits } = sideOf(transferOp("z", [KEYED, KEYLESS], ["198.51.100.0/24", "192.0.2.0/24"]));
  const [key] = keys;
  assert.ok(key && keys.length === 1);
  assert.equal(admits(address("203.0.113.9"), key), true);
  assert.equal(admits(address("203.0.113.9"), { ...key }), false, "a key of the same name is another key");
  const open = ["2001:db8::1", "198.51.100.7", "192.0.2.2"];
  for (const text of open) assert.equal(admits(address(text), undefined), true, text);
  // The ACL does not open what the key closes.
  for (const text of ["192.0.2.1", "2001:db8::2", "203.0.113.9"]) assert.equal(admits(address(text), undefined), false, text);
});

test("if every peer has a key, no address suffices", () => {
  const { admits } = sideOf(transferOp("z", [KEYED], ["198.51.100.0/24"]));
  for (const text of ["192.0.2.1", "198.51.100.7"]) assert.equal(admits(address(text), undefined), false, text);
});

test("a key that cannot be decrypted admits nobody, neither by the key nor by its peer's address", () => {
  const broken = { ...KEYED, tsig: { ...KEYED.tsig, id: "another" } };
  const { keys, admits } = sideOf(transferOp("z", [broken, KEYLESS]));
  assert.deepEqual(keys, []);
  assert.equal(admits(address("192.0.2.1"), undefined), false);
  assert.equal(admits(address("2001:db8::1"), undefined), true);
});

test("peers are admitted from their addition to their removal", () => {
  const replica = createMemoryReplica([transferOp("z", [KEYED])]);
  const partners = createTransferPartners(replica.snapshot, SEALER);
  const other = { ...KEYED, tsig: tsigEntry("k2", "two.example", Buffer.alloc(32, 2)) };
  const value = { outgoing: null, incoming: { peers: [KEYED, other], acl: [] } };
  assert.deepEqual([partners.outgoing("z")?.keys.length, partners.incoming("z"), partners.keys("z").length], [1, undefined, 1]);
  replica.apply([{ kind: "transfer", id: "z", value }]);
  assert.deepEqual([partners.outgoing("z"), partners.incoming("z")?.keys.length, partners.keys("z").length], [undefined, 2, 2]);
  replica.apply([{ kind: "transfer", id: "z", value: null }]);
  assert.deepEqual([partners.outgoing("z"), partners.incoming("z"), partners.keys("z")], [undefined, undefined, []]);
});
