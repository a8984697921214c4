import assert from "node:assert/strict";
import { randomBytes } from "node:crypto";
import { readFileSync } from "node:fs";
import { test } from "node:test";
import { planeSealer } from "#kernel/crypto/plane-keys.ts";
import { createSealer } from "#kernel/crypto/seal.ts";
import type { Op } from "#snapshot/entries.ts";
import { planeKeys, sealedForNodes } from "./node-keys.ts";

const root = createSealer(randomBytes(32));
const sealed = (context: string): string => root.seal(`secret of ${context}`, context);

const peer = (id: string) => ({
  ip: "192.0.2.1",
  port: 53,
  tsig: { id, name: "k", algorithm: "hmac-sha256", secret: sealed(`tsig:${id}`) },
});

/** One entry of each kind with sealed fields, with the contexts of these fields. */
const OPS = [
  { kind: "certificate", id: "c1", value: { zone_id: "z", hosts: [], chain: "", private_key: sealed("certificate:c1"), not_after: "" } },
  { kind: "dnssec", id: "z", value: { keys: [{ id: "k1", public_key: "", private_key: sealed("dnssec:k1"), signs_zone: true }], cds: [] } },
  {
    kind: "transfer",
    id: "z",
    value: { outgoing: { peers: [peer("t1"), { ...peer("t2"), tsig: null }], acl: [] }, incoming: { peers: [peer("t3")], acl: [] } },
  },
  {
    kind: "gateway",
    id: "a/g",
    value: {
      account_id: "a",
      gateway_id: "g",
      authentication: true,
      collect_logs: true,
      otel: [{ url: "", content_type: "json", secret: sealed("gateway-otel:a/g") }],
    },
  },
  { kind: "visitor_keys", id: "edge", value: { keys: [sealed("visitor-keys:edge")] } },
  { kind: "tunnel", id: "t", value: { account_id: "a", name: "n", config_src: "local", secret: sealed("tunnel:t") } },
  {
    kind: "provider_key",
    id: "p1",
    value: { account_id: "a", gateway_id: "g", provider: "x", alias: "", is_default: true, secret: sealed("provider-key:p1") },
  },
  {
    kind: "custom_provider",
    id: "u1",
    value: { account_id: "a", slug: "s", base_url: "", headers: sealed("custom-provider:u1"), costs: [] },
  },
] as unknown as readonly Op[];

const CONTEXTS = [
  "certificate:c1",
  "visitor-keys:edge",
  "tunnel:t",
  "dnssec:k1",
  "tsig:t1",
  "tsig:t3",
  "gateway-otel:a/g",
  "provider-key:p1",
  "custom-provider:u1",
];
const OPENED = {
  edge: ["certificate:c1", "visitor-keys:edge", "tunnel:t"],
  nameserver: ["certificate:c1", "dnssec:k1", "tsig:t1", "tsig:t3"],
  gateway: ["gateway-otel:a/g", "provider-key:p1", "custom-provider:u1"],
} as const;

/** Every sealed text in a value. */
const sealedTexts = (value: unknown): readonly string[] => JSON.stringify(value).match(/sv1\.[A-Za-z0-9_-]+/g) ?? [];

const opens = (sealer: Pick<typeof root, "open">, text: string): string | undefined =>
  CONTEXTS.find((context) => {
    try {
      return sealer.open(text, context).toString() === `secret of ${context}`;
    } catch {
      return false;
    }
  });

test("each plane can open the secrets that it needs and no others, and the installation's key opens none of a node's", () => {
  const texts = sealedTexts(sealedForNodes(root)(OPS));
  assert.equal(texts.length, CONTEXTS.length);
  for (const [plane, expected] of Object.entries(OPENED) as [keyof typeof OPENED, readonly string[]][]) {
    const sealer = planeSealer(planeKeys(root, plane));
    assert.deepEqual(
      texts.flatMap((text) => opens(sealer, text) ?? []),
      expected,
      plane,
    );
  }
  assert.deepEqual(
    texts.flatMap((text) => opens(root, text) ?? []),
    [],
  );
});

test("keys for purposes that all nodes share are derived from control's own", () => {
  assert.deepEqual(planeSealer(planeKeys(root, "edge")).derive("clearance"), Buffer.from(root.derive("clearance")));
  assert.deepEqual(planeSealer(planeKeys(root, "nameserver")).derive("dns cookies"), Buffer.from(root.derive("dns cookies")));
  assert.notDeepEqual(planeSealer(planeKeys(root, "gateway")).derive("gateway cache"), Buffer.from(root.derive("gateway cache")));
});

test("every encrypted field of the entries is encrypted again for nodes", () => {
  const text = readFileSync(new URL(import.meta.resolve("#snapshot/entries.ts")), "utf8").replaceAll(/\n\s+\*/g, "");
  const named = [...text.matchAll(/ealed with the context\s+`([a-z-]+):/g)].map(([, name]) => name);
  assert.deepEqual(new Set(named), new Set(CONTEXTS.map((context) => context.split(":")[0])));
});
