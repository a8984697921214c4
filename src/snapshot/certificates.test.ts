import assert from "node:assert/strict";
import { generateKeyPairSync } from "node:crypto";
import { test } from "node:test";
import { fixedClock } from "#kernel/clock.ts";
import { createMetrics } from "#kernel/process/metrics.ts";
import { createSealer } from "#kernel/crypto/seal.ts";
import { createCertificates } from "./certificates.ts";
import type { Op } from "./entries.ts";
import { createMemoryReplica } from "./memory-replica.ts";

const sealer = createSealer(Buffer.alloc(32, 5));
const { privateKey } = generateKeyPairSync("ec", {
  namedCurve: "prime256v1",
  privateKeyEncoding: { type: "pkcs8", format: "pem" },
  publicKeyEncoding: { type: "spki", format: "pem" },
});

/** A context needs no chain to be opened; nobody shakes hands here. */
const certificateOp = (id: string, ...hosts: readonly string[]): Op => ({
  kind: "certificate",
  id,
  value: {
    zone_id: "zone",
    hosts,
    chain: "",
    private_key: sealer.seal(privateKey, `certificate:${id}`),
    not_after: "2030-01-01T00:00:00Z",
  },
});

function start(ops: readonly Op[], contextsMax: number) {
  const replica = createMemoryReplica(ops);
  const keysNotOpened = createMetrics().counter("keys_not_opened_total", "Keys");
  return {
    replica,
    keysNotOpened,
    certificates: createCertificates({ replica, sealer, contextsMax, keysNotOpened, zoneIdOf: () => "zone" }),
  };
}

test("a name is found among 10,000 certificates without opening any, and contexts in use stay open", () => {
  const ops = Array.from({ length: 10_000 }, (_, i) => certificateOp(`c${i}`, `n${i}.example`, `*.n${i}.example`));
  const { certificates } = start(ops, 50);
  const at = (i: number) => certificates.contextFor(`www.n${i}.example`);
  assert.equal(certificates.idFor("www.n9999.example"), "c9999");
  assert.equal(certificates.idFor("a.b.n9999.example"), null);
  assert.equal(certificates.contextFor("unknown.example"), null);
  const first = at(0);
  assert.ok(first !== null);
  for (let i = 1; i < 200; i++) {
    at(i);
    assert.equal(at(0), first, "in use between all the others");
  }
  const last = at(199);
  assert.equal(at(199), last);
  const early = at(1);
  assert.notEqual(early, null);
  for (let i = 2; i < 52; i++) at(i);
  assert.notEqual(at(1), early, "the least recently used one was closed");
});

test("a replaced certificate is opened again, and listeners get its id", () => {
  const { certificates, replica } = start([certificateOp("c1", "a.example")], 10);
  const told: (readonly string[] | null)[] = [];
  certificates.onChange((ids) => told.push(ids && [...ids]));
  const seen = new Set([certificates.contextFor("a.example")]);
  replica.apply([certificateOp("c1", "a.example")]);
  seen.add(certificates.contextFor("a.example"));
  replica.apply([certificateOp("c2", "a.example")]);
  seen.add(certificates.contextFor("a.example"));
  assert.equal(seen.size, 3);
  replica.apply([{ kind: "certificate", id: "c2", value: null }]);
  assert.equal(certificates.idFor("a.example"), "c1", "the one before it");
  replica.apply([{ kind: "certificate", id: "c1", value: null }]);
  assert.equal(certificates.idFor("a.example"), null);
  assert.deepEqual(told, [["c1"], ["c2"], ["c2"], ["c1"]]);
});

test("a key that cannot be decrypted is tried once, and an unusable certificate affects no other", () => {
  const { certificates, keysNotOpened } = start([{ ...certificateOp("c1", "a.example"), id: "c2" } as Op, certificateOp("c3")], 10);
  assert.deepEqual([certificates.contextFor("a.example"), certificates.contextFor("a.example")], [null, null]);
  assert.equal(keysNotOpened.value, 1);
  const broken = (): never => {
    throw new Error("nothing can be made of it");
  };
  assert.equal(certificates.openWith("c3", broken), null);
  assert.equal(keysNotOpened.value, 2);
  assert.equal(certificates.openWith("no such certificate", broken), null);
  assert.equal(keysNotOpened.value, 2);
});

test("certificates of a zone's owner win over others by rank, only for names of the zone and while they are valid", () => {
  const clock = fixedClock("2026-05-06T12:00:00Z");
  const owner = (id: string, rank: number, zone_id: string, ...hosts: readonly string[]): Op => {
    const { value } = certificateOp(id, ...hosts) as Extract<Op, { kind: "certificate" }>;
    return { kind: "certificate", id, value: value && { ...value, zone_id, rank, not_after: "2027-01-01T00:00:00Z" } };
  };
  const replica = createMemoryReplica([
    owner("low", 1, "zone", "a.example", "*.a.example"),
    owner("high", 2, "zone", "a.example"),
    owner("stranger", 9, "other", "a.example", "www.a.example"),
    certificateOp("issued", "a.example", "*.a.example"),
  ]);
  const zoneIdOf = (name: string): string | null => (name.endsWith("a.example") ? "zone" : null);
  const deps = { replica, sealer, contextsMax: 10, zoneIdOf, keysNotOpened: createMetrics().counter("keys_not_opened_total", "Keys") };
  const certificates = createCertificates({ ...deps, clock });
  assert.equal(certificates.idFor("a.example"), "high");
  assert.equal(certificates.idFor("www.a.example"), "low", "a stranger's certificate for the exact name is not shown");
  replica.apply([owner("newer", 2, "zone", "a.example")]);
  assert.equal(certificates.idFor("a.example"), "newer", "the newest of equal ones");
  replica.apply([owner("low", 3, "zone", "a.example", "*.a.example")]);
  assert.equal(certificates.idFor("a.example"), "low", "priorities change");
  clock.advance(366 * 86_400_000);
  assert.equal(certificates.idFor("a.example"), "issued", "none that has expired");
  assert.equal(createCertificates(deps).idFor("a.example"), "issued", "who serves no zones shows none of them");
});

test("a name uses a certificate only if the certificate's zone serves it, and the installation's own certificate belongs to no zone", () => {
  const of = (id: string, zone_id: string, ...hosts: readonly string[]): Op => {
    const { value } = certificateOp(id, ...hosts) as Extract<Op, { kind: "certificate" }>;
    return { kind: "certificate", id, value: value && { ...value, zone_id } };
  };
  const replica = createMemoryReplica([
    of("own", "a", "*.a.example"),
    of("service", "", "ns.example"),
    of("made up", "b", "www.a.example"),
  ]);
  let serving: string | null = "a";
  const keysNotOpened = createMetrics().counter("keys_not_opened_total", "Keys");
  const certificates = createCertificates({ replica, sealer, contextsMax: 10, keysNotOpened, zoneIdOf: () => serving });
  assert.equal(certificates.idFor("www.a.example"), "own", "not the one that waits for the same name");
  replica.apply([of("made up", "b", "www.a.example", "ns.example")]);
  assert.deepEqual(["www.a.example", "ns.example"].map(certificates.idFor), ["own", "service"], "however new it is");
  serving = "b";
  assert.equal(certificates.idFor("www.a.example"), "made up");
  serving = null;
  assert.deepEqual(["www.a.example", "ns.example"].map(certificates.idFor), [null, "service"]);
});
