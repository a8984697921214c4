import assert from "node:assert/strict";
import { test } from "node:test";
import { createMetrics } from "#kernel/process/metrics.ts";
import { createSealer } from "#kernel/crypto/seal.ts";
import { createCertificates } from "#snapshot/certificates.ts";
import { EDGE_SETTINGS_DEFAULTS } from "#snapshot/edge-settings.ts";
import type { Op } from "#snapshot/entries.ts";
import { createMemoryReplica } from "#snapshot/memory-replica.ts";
import type { OpenSsl, ServerContextOptions } from "#wire/native/openssl.ts";
import { createTlsContexts } from "./contexts.ts";

const sealer = createSealer(Buffer.alloc(32, 5));

const certificateOp = (id: string, key = id): Op => ({
  kind: "certificate",
  id,
  value: {
    zone_id: "zone",
    hosts: [`${id}.example`],
    chain: `chain of ${id}`,
    private_key: sealer.seal(Buffer.from(`key of ${key}`), `certificate:${id}`),
    not_after: "2030-01-01T00:00:00Z",
  },
});

/** Contexts of OpenSSL by address. Freeing one that does not exist is an error. */
function stage(certificatesMax: number, ...ids: readonly string[]) {
  const open = new Map<number, ServerContextOptions>();
  let last = 0;
  const openSsl = {
    createContext: (options: ServerContextOptions) => {
      if (options.privateKey.toString() === "key of nobody") return null;
      open.set(++last, options);
      return last;
    },
    freeContext: (context: number) => assert.ok(open.delete(context), `${context} is freed twice`),
  } as unknown as OpenSsl;
  const replica = createMemoryReplica(ids.map((id) => certificateOp(id)));
  const keysNotOpened = createMetrics().counter("keys_not_opened_total", "Keys");
  const certificates = createCertificates({ replica, sealer, contextsMax: 0, keysNotOpened, zoneIdOf: () => null });
  const contexts = createTlsContexts({ openSsl, certificates, certificatesMax });
  const chains = (): readonly string[] => [...open.values()].map(({ chain }) => chain.slice(-1)).sort();
  return { open, replica, contexts, chains, use: (id: string) => contexts.get(id, EDGE_SETTINGS_DEFAULTS, "") };
}

test("a context is freed once: with its certificate, beyond the limit, with new ticket keys, and at the end", () => {
  const { open, replica, contexts, chains, use } = stage(2, "a", "b", "c");
  for (const id of ["a", "b", "a", "c"]) use(id);
  assert.deepEqual(chains(), ["a", "c"], "b was not asked for the longest");
  contexts.get("a", { ...EDGE_SETTINGS_DEFAULTS, min_tls_version: "1.3" }, "");
  assert.deepEqual(chains(), ["a", "a", "c"]);
  replica.apply([certificateOp("a")]);
  assert.deepEqual(chains(), ["c"]);
  replica.apply([{ kind: "certificate", id: "c", value: null }]);
  assert.deepEqual([chains(), use("c")], [[], null]);
  use("a");
  contexts.useTicketKeys([Buffer.alloc(48, 1)]);
  assert.deepEqual(chains(), []);
  use("a");
  assert.equal([...open.values()][0]?.ticketKey?.length, 80);
  contexts.clear();
  contexts.clear();
  assert.equal(open.size, 0);
});

test("a certificate that OpenSSL rejects is loaded once, and not freed", () => {
  const { replica, contexts, chains, use } = stage(2, "a");
  replica.apply([certificateOp("d", "nobody")]);
  assert.deepEqual([use("d"), use("d")], [null, null]);
  use("a");
  replica.apply([{ kind: "certificate", id: "d", value: null }]);
  assert.deepEqual(chains(), ["a"]);
  contexts.clear();
});
