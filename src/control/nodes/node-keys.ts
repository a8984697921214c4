import type { PlaneKeys } from "#kernel/crypto/plane-keys.ts";
import { createSealer, type Sealer } from "#kernel/crypto/seal.ts";
import { COUNTERS_PURPOSE } from "#wire/redis/leases.ts";
import { VALUE_HASH_PURPOSE } from "#rules/detectors/engine/value-hash.ts";
import {
  type EntryKind,
  type EntryTypes,
  type GatewayEntry,
  type Op,
  type TransferSideEntry,
  VISITOR_KEYS_CONTEXT,
} from "#snapshot/entries.ts";
import type { NodePlane } from "#model/access/node.ts";

/** Secrets that are opened by the same planes. */
type Scope = "certificates" | "names" | "gateways" | "tunnels" | "visitors";

interface PlaneRow {
  readonly scopes: readonly Scope[];
  /** Purposes for which control and all nodes have the same key. */
  readonly shared: readonly string[];
}

/** Secrets that each plane can open. A derived key works only for its purpose, and the installation's own key never leaves control. */
const PLANES: { readonly [P in NodePlane]: PlaneRow } = {
  edge: { scopes: ["certificates", "tunnels", "visitors"], shared: ["clearance", VALUE_HASH_PURPOSE, COUNTERS_PURPOSE] },
  nameserver: { scopes: ["names", "certificates"], shared: ["dns cookies"] },
  gateway: { scopes: ["gateways"], shared: [COUNTERS_PURPOSE] },
};

const keyOf = (sealer: Sealer, scope: Scope): Uint8Array => sealer.derive(`nodes ${scope}`);
const base64 = (bytes: Uint8Array): string => Buffer.from(bytes).toString("base64");

/** The keys that a node gets for a plane. */
export const planeKeys = (sealer: Sealer, plane: NodePlane): PlaneKeys => ({
  open: PLANES[plane].scopes.map((scope) => base64(keyOf(sealer, scope))),
  derived: Object.fromEntries(PLANES[plane].shared.map((purpose) => [purpose, base64(sealer.derive(purpose))])),
});

type Reseal = (sealed: string, context: string) => string;
/** A copy of the entry whose sealed fields are sealed again; `id` is the entry's. */
type Resealer<K extends EntryKind> = {
  readonly scope: Scope;
  readonly entry: (value: EntryTypes[K], reseal: Reseal, id: string) => EntryTypes[K];
};

const sideSealed = (side: TransferSideEntry | null, reseal: Reseal): TransferSideEntry | null =>
  side && {
    ...side,
    peers: side.peers.map(({ tsig, ...peer }) => ({ ...peer, tsig: tsig && { ...tsig, secret: reseal(tsig.secret, `tsig:${tsig.id}`) } })),
  };

/** Every kind of entry with sealed fields. */
export const SEALED_KINDS: { readonly [K in EntryKind]?: Resealer<K> } = {
  certificate: {
    scope: "certificates",
    entry: (value, reseal, id) => ({ ...value, private_key: reseal(value.private_key, `certificate:${id}`) }),
  },
  dnssec: {
    scope: "names",
    entry: (value, reseal) => ({
      ...value,
      keys: value.keys.map((key) => ({ ...key, private_key: reseal(key.private_key, `dnssec:${key.id}`) })),
    }),
  },
  transfer: {
    scope: "names",
    entry: ({ outgoing, incoming }, reseal) => ({ outgoing: sideSealed(outgoing, reseal), incoming: sideSealed(incoming, reseal) }),
  },
  gateway: {
    scope: "gateways",
    entry: (value: GatewayEntry, reseal, id) =>
      value.otel === undefined
        ? value
        : { ...value, otel: value.otel.map((one) => ({ ...one, secret: reseal(one.secret, `gateway-otel:${id}`) })) },
  },
  visitor_keys: {
    scope: "visitors",
    entry: ({ keys }, reseal) => ({ keys: keys.map((key) => reseal(key, VISITOR_KEYS_CONTEXT)) }),
  },
  tunnel: {
    scope: "tunnels",
    entry: (value, reseal, id) => ({ ...value, secret: reseal(value.secret, `tunnel:${id}`) }),
  },
  provider_key: {
    scope: "gateways",
    entry: (value, reseal, id) => ({ ...value, secret: reseal(value.secret, `provider-key:${id}`) }),
  },
  custom_provider: {
    scope: "gateways",
    entry: (value, reseal, id) =>
      value.headers === undefined ? value : { ...value, headers: reseal(value.headers, `custom-provider:${id}`) },
  },
};

/** Entries as nodes may have them: sealed with keys that only the planes have that open them. */
export function sealedForNodes(sealer: Sealer): (ops: readonly Op[]) => readonly Op[] {
  const sealers = new Map<Scope, Sealer>();
  const sealerOf = (scope: Scope): Sealer => {
    let found = sealers.get(scope);
    if (found === undefined) sealers.set(scope, (found = createSealer(keyOf(sealer, scope))));
    return found;
  };
  const sealOne = (op: Op): Op => {
    const row = SEALED_KINDS[op.kind] as Resealer<EntryKind> | undefined;
    if (row === undefined || op.value === null) return op;
    const to = sealerOf(row.scope);
    const reseal: Reseal = (sealed, context) => to.seal(sealer.open(sealed, context), context);
    return { ...op, value: row.entry(op.value, reseal, op.id) } as Op;
  };
  return (ops) => (ops.some(({ kind }) => kind in SEALED_KINDS) ? ops.map(sealOne) : ops);
}
