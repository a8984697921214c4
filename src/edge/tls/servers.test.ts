import assert from "node:assert/strict";
import { generateKeyPairSync } from "node:crypto";
import { test } from "node:test";
import { createMetrics } from "#kernel/process/metrics.ts";
import { createSealer } from "#kernel/crypto/seal.ts";
import { createCertificates } from "#snapshot/certificates.ts";
import { EDGE_SETTINGS_DEFAULTS } from "#snapshot/edge-settings.ts";
import type { Op } from "#snapshot/entries.ts";
import { createMemoryReplica } from "#snapshot/memory-replica.ts";
import { createTlsServers } from "./servers.ts";

const sealer = createSealer(Buffer.alloc(32, 5));
const { privateKey } = generateKeyPairSync("ec", {
  namedCurve: "prime256v1",
  privateKeyEncoding: { type: "pkcs8", format: "pem" },
  publicKeyEncoding: { type: "spki", format: "pem" },
});

/** A server can be made without a chain; no handshake happens here. */
const certificateOp = (id: string): Op => ({
  kind: "certificate",
  id,
  value: {
    zone_id: "zone",
    hosts: [`${id}.example`],
    chain: "",
    private_key: sealer.seal(privateKey, `certificate:${id}`),
    not_after: "2030-01-01T00:00:00Z",
  },
});

function start(certificatesMax: number, ...ids: readonly string[]) {
  const replica = createMemoryReplica(ids.map(certificateOp));
  const keysNotOpened = createMetrics().counter("keys_not_opened_total", "Keys");
  const certificates = createCertificates({ replica, sealer, contextsMax: 0, keysNotOpened, zoneIdOf: () => null });
  const ignore = (): void => undefined;
  const servers = createTlsServers({ certificates, certificatesMax, handshakeTimeoutMs: 1000, onSecure: ignore, onFailed: ignore });
  return { replica, keysNotOpened, servers, serverFor: (id: string) => servers.get(id, EDGE_SETTINGS_DEFAULTS, "") };
}

test("a certificate has a server for each policy and ticket key, created on first use", () => {
  const { servers, serverFor } = start(10, "a", "b");
  assert.equal(serverFor("a"), serverFor("a"));
  assert.notEqual(serverFor("a"), serverFor("b"));
  const strict = { ...EDGE_SETTINGS_DEFAULTS, min_tls_version: "1.3" as const };
  assert.notEqual(servers.get("a", strict, ""), serverFor("a"));
  const keys = [Buffer.alloc(48, "1"), Buffer.alloc(48, "2")];
  const before = serverFor("a");
  servers.useTicketKeys(keys);
  assert.notEqual(serverFor("a"), before, "tickets are sealed with the newest key");
  const older = servers.ticketKeyNamed([Buffer.alloc(16, "0"), keys[1]!.subarray(0, 16)]);
  assert.notEqual(servers.get("a", EDGE_SETTINGS_DEFAULTS, older), serverFor("a"));
  assert.equal(servers.ticketKeyNamed([Buffer.alloc(16, "0")]), "");
});

test("the edge stops serving a certificate that was replaced or removed, and keeps others open", () => {
  const { replica, serverFor } = start(10, "a", "b");
  const [a, b] = [serverFor("a"), serverFor("b")];
  replica.apply([certificateOp("a")]);
  assert.notEqual(serverFor("a"), a);
  assert.equal(serverFor("b"), b);
  replica.apply([{ kind: "certificate", id: "b", value: null }]);
  assert.equal(serverFor("b"), null);
});

test("the edge keeps recently used certificates open, and tries to decrypt a bad key once", () => {
  const { replica, keysNotOpened, serverFor } = start(2, "a", "b", "c");
  const [a, b] = [serverFor("a"), serverFor("b")];
  assert.equal(serverFor("a"), a);
  serverFor("c");
  assert.equal(serverFor("a"), a);
  assert.notEqual(serverFor("b"), b, "the one that was not asked for the longest was closed");
  replica.apply([{ ...certificateOp("a"), id: "d" } as Op]);
  assert.deepEqual([serverFor("d"), serverFor("d"), keysNotOpened.value], [null, null, 1]);
});
