import { getServers, promises as dns } from "node:dns";
import type { CaaAnswer, LookUpCaa } from "#acme/caa-lookup.ts";
import type { CaaRecord } from "#acme/caa.ts";
import { queryResolver, type ResolverAddress } from "#control/dns/scan/query-resolver.ts";
import { answersItself, hostedName } from "#store/zones/local-names.ts";
import type { Store } from "#store/database/store.ts";
import { RCODE, TYPE } from "#wire/dns/codes.ts";
import type { Message, ResourceRecord } from "#wire/dns/message.ts";
import { formatName, keyOf, parseAbsoluteName } from "#wire/dns/name.ts";
import { encodeContent } from "#wire/dns/record-types.ts";
import { WireReader } from "#wire/dns/wire-reader.ts";

const CAA = 257;
const TIMEOUT_MS = 3_000;
/** Resolvers that do not respond are skipped; trying more than these helps little. */
const RESOLVERS_MAX = 3;
const ALIASES_MAX = 8;
const RECORDS_MAX = 100;

/**
 * Looks up a name's CAA records for the account that requests a certificate: in the database for hosted zones that it
 * relies on, which are ahead of the public DNS; otherwise through the operator's resolvers, or the system's by default.
 * Follows aliases (RFC 8659 §3).
 */
export function createLookUpCaa(deps: {
  readonly store: Store;
  readonly resolvers: readonly ResolverAddress[];
}): (viewerAccountId: string) => LookUpCaa {
  const resolvers = (deps.resolvers.length > 0 ? deps.resolvers : getServers()).slice(0, RESOLVERS_MAX);
  const outside = async (name: string, signal: AbortSignal): Promise<CaaAnswer> => {
    let failed = "no resolver is configured";
    for (const address of resolvers) {
      signal.throwIfAborted();
      try {
        return { records: recordsIn(await queryResolver(address, parseAbsoluteName(name), CAA, TIMEOUT_MS), name) };
      } catch (error) {
        failed = `${address}: ${(error as Error).message}`;
      }
    }
    return (await byDatagram(resolvers, name)) ?? { failed };
  };

  return (viewerAccountId) => async (name, signal) => {
    let at = name;
    let pointing = viewerAccountId;
    for (let aliases = 0; aliases < ALIASES_MAX; aliases++) {
      const hosted = await hostedName(deps.store.read, at, pointing);
      if (!answersItself(hosted)) return outside(at, signal);
      pointing = hosted.zone.account_id;
      const alias = hosted.records.find(({ type }) => type === "CNAME");
      if (alias === undefined) return { records: contentsOf(hosted.records) };
      at = alias.content.toLowerCase().replace(/\.$/, "");
    }
    return { failed: `${name} has an endless chain of CNAME records` };
  };
}

/** A fallback over UDP, because some resolvers do not accept TCP. Null if none responds. */
async function byDatagram(resolvers: readonly ResolverAddress[], name: string): Promise<CaaAnswer | null> {
  const resolver = new dns.Resolver({ timeout: TIMEOUT_MS, tries: 1 });
  try {
    resolver.setServers(resolvers);
    const found = await resolver.resolveCaa(name);
    return { records: found.slice(0, RECORDS_MAX).flatMap(propertiesOf) };
  } catch (error) {
    const code = (error as NodeJS.ErrnoException).code ?? "";
    return code === dns.NODATA || code === dns.NOTFOUND ? { records: [] } : null;
  }
}

/** The library returns each property as a member with the tag as its name. */
const propertiesOf = ({ critical, ...properties }: { readonly critical: number }): readonly CaaRecord[] =>
  Object.entries(properties)
    .filter(([tag, value]) => tag !== "type" && typeof value === "string")
    .map(([tag, value]) => ({ flags: critical, tag, value: String(value) }));

const contentsOf = (records: readonly { readonly type: string; readonly content: string }[]): readonly CaaRecord[] =>
  records
    .filter(({ type }) => type === "CAA")
    .slice(0, RECORDS_MAX)
    .map(({ content }) => readCaa(encodeContent("CAA", content, { origin: "." })));

/** Throws if the response is not about the name. */
function recordsIn(answer: Message, name: string): readonly CaaRecord[] {
  const rcode = answer.flags & 0xf;
  if (rcode === RCODE.NXDOMAIN) return [];
  if (rcode !== RCODE.NOERROR) throw new Error(`it responded with RCODE ${rcode}`);
  let owner = keyOf(parseAbsoluteName(name));
  const aliasOf = (record: ResourceRecord): boolean => record.type === TYPE.CNAME && keyOf(record.name) === owner;
  for (let aliases = 0; aliases < ALIASES_MAX; aliases++) {
    const alias = answer.answers.find(aliasOf);
    if (alias === undefined) break;
    owner = keyOf(parseAbsoluteName(formatName(alias.rdata)));
  }
  return answer.answers
    .filter((record) => record.type === CAA && keyOf(record.name) === owner)
    .slice(0, RECORDS_MAX)
    .map(({ rdata }) => readCaa(rdata));
}

/** RFC 8659 §4.1. */
function readCaa(rdata: Uint8Array): CaaRecord {
  const reader = new WireReader(rdata, { pointers: false });
  const flags = reader.u8();
  const tag = Buffer.from(reader.take(reader.u8())).toString("latin1");
  return { flags, tag, value: Buffer.from(reader.take(rdata.length - reader.offset)).toString("latin1") };
}
