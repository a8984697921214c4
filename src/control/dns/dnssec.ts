import { generateKeyPair } from "node:crypto";
import { promisify } from "node:util";
import type { Clock } from "#kernel/clock.ts";
import { isoMicros } from "#kernel/clock.ts";
import { PlatformError } from "#kernel/errors.ts";
import { newId } from "#kernel/ids.ts";
import type { Sealer } from "#kernel/seal.ts";
import type { Call } from "#control/call.ts";
import { auditActor, commit } from "#control/commit.ts";
import { afterEvent, type Dnssec, type DnssecEdit, type DnssecStatus, type ZoneSigningKey } from "#model/dnssec.ts";
import type { Store, Unit } from "#store/store.ts";
import { deleteDnssecOfZone, dnssecOfZone, putDnssec, type ZoneDnssecRow } from "#store/zone-dnssec.ts";
import { dnssecEntry, serialEntry } from "#snapshot/compile.ts";
import { lockZone, touchZone } from "#store/zones.ts";
import { CLASS } from "#wire/dns/codes.ts";
import {
  ALGORITHM_ECDSAP256SHA256,
  CSK_FLAGS,
  DIGEST_SHA256,
  DNSKEY_PROTOCOL,
  dnskeyRdata,
  dsDigest,
  keyTag,
} from "#wire/dns/dnssec-key.ts";

export interface DnssecZone {
  readonly id: string;
  readonly name: string;
  readonly account_id: string;
}

export interface DnssecControl {
  get(zone: DnssecZone): Promise<Dnssec>;
  /** `status: "active"` makes the key if there is none and waits for the DS at the parent; see `DNSSEC_TRANSITIONS`. */
  edit(call: Call, zone: DnssecZone, body: DnssecEdit): Promise<Dnssec>;
  /** Destroys the key. Throws `dnssec_transition` unless the status is `disabled`. */
  remove(call: Call, zone: DnssecZone): Promise<string>;
  /** The one key that signs keys and records alike. */
  signingKeys(zone: DnssecZone): Promise<readonly ZoneSigningKey[]>;
}

export interface DnssecDeps {
  readonly store: Store;
  readonly clock: Clock;
  readonly sealer: Sealer;
}

/** Resolvers keep keys for an hour, so that a new one is known everywhere in time. */
const DNSKEY_TTL_SECONDS = 3600;
const TYPE_DNSKEY = 48;

export function createDnssec(deps: DnssecDeps): DnssecControl {
  const { store, clock } = deps;
  return {
    get: async (zone) => view(zone, await dnssecOfZone(store.read, zone.id)),
    edit: async (call, zone, body) => {
      if (body.dnssec_presigned === true)
        throw new PlatformError("setting_unavailable", {
          message: "Zones that come signed from a primary are not available.",
          source: "/dnssec_presigned",
        });
      // Before the unit, which would hold up other writes, and for nothing where the zone has a key.
      const fresh = await newKey(deps, zone);
      return commit(deps, call, async (unit) => {
        if (!(await lockZone(unit.db, zone.id))) throw new PlatformError("zone_not_found");
        const before = await dnssecOfZone(unit.db, zone.id);
        const status = nextStatus(before, body.status);
        const options = body.dnssec_multi_signer === true || body.dnssec_use_nsec3 === true;
        // A zone whose DNSSEC was never on gets no key by being turned off.
        if (before === undefined && status === "disabled" && !options) return view(zone, undefined);
        const after: ZoneDnssecRow = {
          ...(before ?? fresh),
          status,
          ...(body.dnssec_multi_signer === undefined ? {} : { multi_signer: body.dnssec_multi_signer ? 1 : 0 }),
          ...(body.dnssec_use_nsec3 === undefined ? {} : { use_nsec3: body.dnssec_use_nsec3 ? 1 : 0 }),
          modified_on: isoMicros(clock.nowMicros()),
        };
        await putDnssec(unit.db, after);
        await tellPlanes(unit, before, after);
        const shown = view(zone, after);
        unit.audit({ ...auditOf("dnssec.edit", call, zone), before: view(zone, before), after: shown });
        return shown;
      });
    },
    remove: (call, zone) =>
      commit(deps, call, async (unit) => {
        await lockZone(unit.db, zone.id);
        const before = await dnssecOfZone(unit.db, zone.id);
        if (before === undefined) return "";
        if (before.status !== "disabled")
          throw new PlatformError("dnssec_transition", {
            message: `DNSSEC is ${before.status}; its key can be deleted only while it is disabled.`,
          });
        await deleteDnssecOfZone(unit.db, zone.id);
        unit.audit({ ...auditOf("dnssec.delete", call, zone), before: view(zone, before) });
        return "";
      }),
    signingKeys: async (zone) => {
      const row = await dnssecOfZone(store.read, zone.id);
      return row ? [signingKey(zone, row)] : [];
    },
  };
}

/** Only where the keys in use change. Servers that fetch the zone learn of them by its serial. */
async function tellPlanes(unit: Unit, before: ZoneDnssecRow | undefined, after: ZoneDnssecRow): Promise<void> {
  const entry = dnssecEntry(after);
  if (JSON.stringify(entry) === JSON.stringify(dnssecEntry(before))) return;
  const touched = await touchZone(unit.db, after.zone_id);
  unit.change({ kind: "dnssec", id: after.zone_id, value: entry });
  if (touched) unit.change({ kind: "serial", id: after.zone_id, value: serialEntry(touched) });
}

function nextStatus(row: ZoneDnssecRow | undefined, wanted: DnssecEdit["status"]): DnssecStatus {
  const status = (row?.status ?? "disabled") as DnssecStatus;
  return wanted === undefined ? status : afterEvent(status, wanted === "active" ? "enable" : "disable");
}

const generate = promisify(generateKeyPair);

async function newKey({ sealer, clock }: DnssecDeps, zone: DnssecZone): Promise<ZoneDnssecRow> {
  const key_id = newId();
  const { privateKey } = await generate("ec", { namedCurve: "P-256" });
  const { x = "", y = "" } = privateKey.export({ format: "jwk" });
  return {
    zone_id: zone.id,
    key_id,
    status: "disabled",
    public_key: Buffer.concat([Buffer.from(x, "base64url"), Buffer.from(y, "base64url")]).toString("base64"),
    private_key: sealer.seal(privateKey.export({ format: "pem", type: "pkcs8" }), `dnssec:${key_id}`),
    multi_signer: 0,
    use_nsec3: 0,
    modified_on: isoMicros(clock.nowMicros()),
  };
}

const NO_KEY = {
  flags: null,
  algorithm: null,
  key_type: null,
  digest_type: null,
  digest_algorithm: null,
  digest: null,
  ds: null,
  key_tag: null,
  public_key: null,
} as const;

function view(zone: DnssecZone, row: ZoneDnssecRow | undefined): Dnssec {
  return {
    status: (row?.status ?? "disabled") as DnssecStatus,
    ...(row ? keyFields(zone, row) : NO_KEY),
    dnssec_multi_signer: row?.multi_signer === 1,
    dnssec_presigned: false,
    dnssec_use_nsec3: row?.use_nsec3 === 1,
    modified_on: row?.modified_on ?? null,
  };
}

function keyFields(zone: DnssecZone, row: ZoneDnssecRow) {
  const rdata = dnskeyRdata(Buffer.from(row.public_key, "base64"));
  const [key_tag, digest] = [keyTag(rdata), dsDigest(zone.name, rdata)];
  return {
    flags: CSK_FLAGS,
    algorithm: String(ALGORITHM_ECDSAP256SHA256),
    key_type: "ECDSAP256SHA256",
    digest_type: String(DIGEST_SHA256),
    digest_algorithm: "SHA256",
    digest,
    ds: `${zone.name}. ${DNSKEY_TTL_SECONDS} IN DS ${key_tag} ${ALGORITHM_ECDSAP256SHA256} ${DIGEST_SHA256} ${digest}`,
    key_tag,
    public_key: row.public_key,
  };
}

const signingKey = (zone: DnssecZone, row: ZoneDnssecRow): ZoneSigningKey => ({
  Name: row.key_id,
  Location: "database",
  Tag: row.status === "disabled" ? "retired" : row.status === "active" ? "active" : "publish",
  DNSKEY: {
    Hdr: {
      Name: `${zone.name}.`,
      Rrtype: TYPE_DNSKEY,
      Class: CLASS.IN,
      Ttl: DNSKEY_TTL_SECONDS,
      Rdlength: dnskeyRdata(Buffer.from(row.public_key, "base64")).length,
    },
    Flags: CSK_FLAGS,
    Protocol: DNSKEY_PROTOCOL,
    Algorithm: ALGORITHM_ECDSAP256SHA256,
    PublicKey: row.public_key,
  },
  SigningKey: { kek: null, privkey: null, pubkey: row.public_key },
});

const auditOf = (action: string, call: Call, zone: DnssecZone) => ({
  action,
  actor: auditActor(call),
  account_id: zone.account_id,
  zone_id: zone.id,
  resource: { type: "dnssec", id: zone.id },
});
