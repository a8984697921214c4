import { keyForParent, signingKey } from "#model/dns/dnssec-life.ts";
import type { Dnssec, DnssecRollover, KeyRole, ZoneSigningKey } from "#model/dns/dnssec.ts";
import type { DnssecKeyRow } from "#store/dns/zone-dnssec.ts";
import { CLASS } from "#wire/dns/codes.ts";
import {
  ALGORITHM_ECDSAP256SHA256,
  CSK_FLAGS,
  DIGEST_SHA256,
  DNSKEY_PROTOCOL,
  DNSKEY_TTL_SECONDS,
  dnskeyRdata,
  dsDigest,
  keyTag,
} from "#wire/dns/dnssec-key.ts";
import { lifeOf, type StoredDnssec } from "./stored-dnssec.ts";

const TYPE_DNSKEY = 48;

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

/** DNSSEC of a zone as displayed; of several keys, the one whose DS record belongs at the parent. */
export function dnssecView(zoneName: string, stored: StoredDnssec | undefined): Dnssec {
  const asked = stored && keyForParent(lifeOf(stored));
  const key = stored?.keys.find(({ id }) => id === asked);
  return {
    status: stored ? lifeOf(stored).status : "disabled",
    ...(key ? keyFields(zoneName, key) : NO_KEY),
    dnssec_multi_signer: stored?.row.multi_signer === 1,
    dnssec_presigned: false,
    dnssec_use_nsec3: false,
    modified_on: stored?.row.modified_on ?? null,
  };
}

function keyFields(zoneName: string, { public_key }: DnssecKeyRow) {
  const rdata = rdataOf(public_key);
  return {
    flags: CSK_FLAGS,
    algorithm: String(ALGORITHM_ECDSAP256SHA256),
    key_type: "ECDSAP256SHA256",
    digest_type: String(DIGEST_SHA256),
    digest_algorithm: "SHA256",
    digest: dsDigest(zoneName, rdata),
    ds: dsText(zoneName, rdata),
    key_tag: keyTag(rdata),
    public_key,
  };
}

const rdataOf = (publicKey: string): Buffer => dnskeyRdata(Buffer.from(publicKey, "base64"));

const dsText = (zoneName: string, rdata: Buffer): string =>
  `${zoneName}. ${DNSKEY_TTL_SECONDS} IN DS ${keyTag(rdata)} ${ALGORITHM_ECDSAP256SHA256} ${DIGEST_SHA256} ${dsDigest(zoneName, rdata)}`;

/** Problems that block the zone's DNSSEC and that the owner can solve. */
const NOTES: readonly { when(stored: StoredDnssec): boolean; text(stored: StoredDnssec): string }[] = [
  {
    when: ({ row }) => row.look_failure !== "" && row.status !== "disabled",
    text: ({ row }) => `Status stays ${row.status}: the parent zone could not be checked: ${row.look_failure}.`,
  },
  {
    when: ({ row }) => row.status === "error",
    text: ({ row }) => `The parent zone has had no DS record for the zone's key since ${row.ds_since}: add the one shown here.`,
  },
  {
    when: ({ row }) => row.ds_named === "[]" && row.ds_others !== "[]" && row.status !== "disabled",
    text: ({ row }) =>
      `The parent's DS records name only other keys (${(JSON.parse(row.ds_others) as number[]).join(", ")}): the zone fails validation until you replace them.`,
  },
  {
    when: ({ row }) => row.rollover === "submit" && row.status === "active",
    text: ({ row }) =>
      `A new key has been waiting since ${row.rollover_since} for its DS record in the parent zone: add the one shown here.`,
  },
];

export const dnssecNotes = (stored: StoredDnssec): string[] => NOTES.filter(({ when }) => when(stored)).map(({ text }) => text(stored));

export const zoneSigningKeys = (zoneName: string, stored: StoredDnssec): ZoneSigningKey[] =>
  stored.keys.map((key) => ({
    Name: key.id,
    Location: "database",
    Tag: roleOf(stored, key),
    DNSKEY: {
      Hdr: {
        Name: `${zoneName}.`,
        Rrtype: TYPE_DNSKEY,
        Class: CLASS.IN,
        Ttl: DNSKEY_TTL_SECONDS,
        Rdlength: rdataOf(key.public_key).length,
      },
      Flags: CSK_FLAGS,
      Protocol: DNSKEY_PROTOCOL,
      Algorithm: ALGORITHM_ECDSAP256SHA256,
      PublicKey: key.public_key,
    },
    SigningKey: { kek: null, privkey: null, pubkey: key.public_key },
  }));

/** The key's role: `active` signs the zone; a second key is either the next or the previous one. */
function roleOf(stored: StoredDnssec, key: DnssecKeyRow): KeyRole {
  const life = lifeOf(stored);
  if (life.status === "disabled") return "retired";
  if (signingKey(life) === key.id) return "active";
  return life.keys[0] === key.id ? "retired" : "publish";
}

export function rolloverView(zoneName: string, stored: StoredDnssec | undefined): DnssecRollover {
  if (stored === undefined) return { stage: "none", since: null, keys: [], parent: UNSEEN };
  const { row, keys } = stored;
  const life = lifeOf(stored);
  const tagOf = ({ public_key }: DnssecKeyRow): number => keyTag(rdataOf(public_key));
  return {
    stage: life.rollover,
    since: row.rollover_since,
    keys: keys.map((key) => ({
      key_tag: tagOf(key),
      role: roleOf(stored, key),
      ds: dsText(zoneName, rdataOf(key.public_key)),
      created_on: key.created_on,
    })),
    parent: {
      key_tags: keys.filter(({ id }) => life.ds_named.includes(id)).map(tagOf),
      other_key_tags: JSON.parse(row.ds_others) as number[],
      since: life.looked_on === null ? null : row.ds_since,
      seen_on: life.looked_on === null ? null : row.looked_on,
      failure: row.look_failure === "" ? null : row.look_failure,
    },
  };
}

const UNSEEN = { key_tags: [], other_key_tags: [], since: null, seen_on: null, failure: null };
