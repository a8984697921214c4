import { PlatformError } from "#kernel/errors/errors.ts";
import { formatCidr, parseCidr } from "#kernel/net/cidr.ts";
import { formatIp, parseIp } from "#kernel/net/ip.ts";
import type { Sealer } from "#kernel/crypto/seal.ts";
import { holdsInAccount } from "#control/access/grants.ts";
import {
  ACL_PREFIX_MIN,
  type TransferAcl,
  type TransferAclWrite,
  type TransferPeer,
  type TransferPeerWrite,
  type TransferTsig,
  type TransferTsigWrite,
  TSIG_ALGORITHMS,
} from "#model/dns/zone-transfer.ts";
import type { Unit } from "#store/database/store.ts";
import { transferObject, transferObjects, zoneTransfersOfAccount } from "#store/dns/transfers.ts";
import { RdataError } from "#wire/dns/errors.ts";
import { formatName, parseAbsoluteName } from "#wire/dns/name.ts";
import type { TransferKindRow } from "./objects.ts";

const invalid = (field: string, message: string): PlatformError =>
  new PlatformError("invalid_input", { message: `"${field}" ${message}.`, source: `/${field}` });

export const ACLS: TransferKindRow<TransferAcl, TransferAclWrite, TransferAclWrite> = {
  kind: "acl",
  value: async ({ name, ip_range }) => {
    const range = parseCidr(ip_range);
    if (!range) throw invalid("ip_range", "must be an address or a range such as 192.0.2.0/28");
    const least = ACL_PREFIX_MIN[range.base.family];
    if (range.prefix < least) throw invalid("ip_range", `is too wide: the prefix must be at least /${least} for IPv${range.base.family}`);
    return { name, ip_range: formatCidr(range) };
  },
  view: (value, id) => ({ id, ...value }),
  audited: (value) => value,
  user: async () => null,
};

type PeerValue = Omit<TransferPeer, "id">;

const DNS_PORT = 53;

export const PEERS: TransferKindRow<TransferPeer, TransferPeerWrite, PeerValue> = {
  kind: "peer",
  value: async ({ name, ip, port, ixfr_enable, tsig_id }, { db, accountId }) => {
    // Clients may send null, an empty text or nothing to mean "none".
    const [givenIp, key] = [ip ?? "", tsig_id ?? ""];
    const address = parseIp(givenIp);
    if (givenIp !== "" && !address) throw invalid("ip", "must be an IPv4 or IPv6 address");
    if (key !== "" && !(await transferObject(db, accountId, "tsig", key))) throw invalid("tsig_id", "is not a TSIG of the account");
    return {
      name,
      ...(address ? { ip: formatIp(address) } : {}),
      port: port ?? DNS_PORT,
      ixfr_enable: ixfr_enable ?? false,
      ...(key === "" ? {} : { tsig_id: key }),
    };
  },
  view: (value, id) => ({ id, ...value }),
  audited: (value) => value,
  user: async (db, accountId, id) => {
    const configured = await zoneTransfersOfAccount(db, accountId);
    const user = configured.find(({ settings }) => (JSON.parse(settings) as { peers: string[] }).peers.includes(id));
    return user ? `The ${user.direction} transfer of zone ${user.zone_id}` : null;
  },
};

interface TsigValue {
  readonly name: string;
  readonly algo: string;
  /** Sealed with the context `tsig:{id}`. */
  readonly secret: string;
}

export const createTsigs = (sealer: Sealer): TransferKindRow<TransferTsig, TransferTsigWrite, TsigValue> => ({
  kind: "tsig",
  value: async ({ name, algo, secret }, { id }) => ({
    name: keyName(name),
    algo: algorithm(algo),
    secret: sealer.seal(checkSecret(secret), `tsig:${id}`),
  }),
  // Only callers who may write see the secret, because they could replace it anyway.
  view: ({ name, algo, secret }, id, { call, accountId }) => ({
    id,
    name,
    algo,
    secret: holdsInAccount(call.actor, accountId, ["Account Settings Write"]) ? sealer.open(secret, `tsig:${id}`).toString() : "",
  }),
  audited: ({ name, algo }) => ({ name, algo }),
  user: async (db: Unit["db"], accountId, id) => {
    const peers = await transferObjects(db, accountId, "peer");
    const user = peers.find(({ value }) => (JSON.parse(value) as PeerValue).tsig_id === id);
    return user ? `The peer ${user.id}` : null;
  },
});

function keyName(text: string): string {
  try {
    return `${formatName(parseAbsoluteName(text)).toLowerCase()}.`;
  } catch (error) {
    if (error instanceof RdataError) throw invalid("name", error.message);
    throw error;
  }
}

function algorithm(text: string): string {
  const name = text.toLowerCase().replace(/\.$/, "");
  if (TSIG_ALGORITHMS.some((known) => known === name)) return `${name}.`;
  throw invalid("algo", `must be one of ${TSIG_ALGORITHMS.map((known) => `${known}.`).join(", ")}`);
}

// RFC 8945 §8: a secret should have at least half the length of its hash; half of SHA-1's is the minimum.
const SECRET_BYTES_MIN = 10;

function checkSecret(text: string): string {
  const bytes = /^[A-Za-z0-9+/]+={0,2}$/.test(text) && text.length % 4 === 0 ? Buffer.from(text, "base64").length : 0;
  if (bytes < SECRET_BYTES_MIN) throw invalid("secret", `must be base64 of at least ${SECRET_BYTES_MIN} bytes`);
  return text;
}
