import type { Clock } from "#kernel/clock.ts";
import { PlatformError } from "#kernel/errors/errors.ts";
import type { DnsQuery, DnsQueryResult } from "#model/dns/dns-query.ts";
import { recordsNamed } from "#store/dns/dns-record-rows.ts";
import type { Store } from "#store/database/store.ts";
import { CLASS, FLAG, RCODE, TYPE } from "#wire/dns/codes.ts";
import type { Message, ResourceRecord } from "#wire/dns/message.ts";
import { type DnsName, formatName, isWithin, keyOf, parseName, parseAbsoluteName } from "#wire/dns/name.ts";
import { presentationText, recordTypeByCode, typeCode } from "#wire/dns/record-types.ts";
import { queryAuthority, type ResolverAddress } from "./query-resolver.ts";
import { causesOf } from "./answer-causes.ts";

/** Queries to the installation's own nameserver about names of a zone. */
export interface ZoneQueries {
  /**
   * Throws `invalid_input` for a name outside the zone, or an unknown type. If the nameserver does not respond, the
   * result says so.
   */
  ask(zone: { readonly id: string; readonly name: string }, query: DnsQuery): Promise<DnsQueryResult>;
}

export interface ZoneQueriesDeps {
  readonly store: Store;
  readonly clock: Clock;
  /** Undefined if this process has no nameserver. */
  readonly nameserver: () => ResolverAddress | undefined;
}

const TIMEOUT_MS = 3000;
const FLAGS = { aa: FLAG.AA, tc: FLAG.TC, rd: FLAG.RD, ra: FLAG.RA } as const;
const STATUSES: ReadonlyMap<number, string> = new Map(Object.entries(RCODE).map(([name, code]) => [code, name]));

export function createZoneQueries({ store, clock, nameserver }: ZoneQueriesDeps): ZoneQueries {
  return {
    ask: async (zone, { name: asked, type: askedType = "A" }) => {
      const name = nameWithin(zone.name, asked);
      const type = askedType.toUpperCase();
      const code = typeCode(type);
      if (code === undefined)
        throw new PlatformError("invalid_input", { message: `${JSON.stringify(askedType)} is not a type of records`, source: "/type" });
      const address = nameserver();
      const startedMs = clock.monotonicMs();
      const message = address === undefined ? undefined : await queryAuthority(address, name, code, TIMEOUT_MS).catch(() => undefined);
      const duration_ms = Math.round((clock.monotonicMs() - startedMs) * 1000) / 1000;
      const text = formatName(name).toLowerCase();
      const shown = { name: text, type, duration_ms };
      if (!message) return { ...shown, ...NOTHING, because: [{ cause: "no_response", message: "The nameserver did not answer in time." }] };
      const owners = ownersOf(text, zone.name);
      const rows = await recordsNamed(store.read, zone.id, owners);
      return {
        ...shown,
        status: STATUSES.get(message.flags & RCODE_MASK) ?? `RCODE${message.flags & RCODE_MASK}`,
        flags: (Object.keys(FLAGS) as (keyof typeof FLAGS)[]).filter((flag) => (message.flags & FLAGS[flag]) !== 0),
        ...sectionsOf(message),
        because: causesOf({ name: text, type, owners, rows, message }),
      };
    },
  };
}

const RCODE_MASK = 0xf;
const NOTHING = { status: "NORESPONSE", flags: [], answer: [], authority: [], additional: [] } satisfies Partial<DnsQueryResult>;

function nameWithin(zone: string, asked: string): DnsName {
  const origin = parseAbsoluteName(`${zone}.`);
  const parsed = parsedName(asked, origin);
  if (isWithin(keyOf(parsed), keyOf(origin))) return parsed;
  // `www.example.com` without the final dot is also accepted as a name of the zone.
  throw new PlatformError("invalid_input", { message: `${JSON.stringify(asked)} is not a name within ${zone}`, source: "/name" });
}

function parsedName(asked: string, origin: DnsName): DnsName {
  try {
    const absolute = asked === "@" ? origin : parseName(asked.endsWith(".") ? asked : `${asked}.`, { origin, style: "master" });
    if (asked === "@" || asked.endsWith(".") || isWithin(keyOf(absolute), keyOf(origin))) return absolute;
    return parseName(asked, { origin, style: "master" });
  } catch (error) {
    throw new PlatformError("invalid_input", { message: `name: ${(error as Error).message}`, source: "/name" });
  }
}

/** The name, the wildcards that may cover it, nearest first, and the cuts above it. */
function ownersOf(name: string, zone: string): readonly string[] {
  const owners = [name];
  for (let at = name.indexOf("."), above = name; above !== zone && at >= 0; at = above.indexOf(".")) {
    above = above.slice(at + 1);
    owners.push(`*.${above}`, above);
    if (!above.endsWith(zone)) break;
  }
  return owners;
}

type Sections = Pick<DnsQueryResult, "answer" | "authority" | "additional">;

const sectionsOf = ({ answers, authorities, additionals }: Message): Sections => ({
  answer: answers.map(lineOf),
  authority: authorities.map(lineOf),
  additional: additionals.filter(({ type, class: of }) => type !== TYPE.OPT && of === CLASS.IN).map(lineOf),
});

function lineOf({ name, type: code, ttl, rdata }: ResourceRecord): Sections["answer"][number] {
  const type = recordTypeByCode(code)?.name ?? `TYPE${code}`;
  return { name: formatName(name), ttl, type, content: contentOf(type, rdata) };
}

function contentOf(type: string, rdata: Uint8Array): string {
  try {
    return presentationText(type, rdata);
  } catch {
    return `\\# ${rdata.length} ${Buffer.from(rdata).toString("hex")}`;
  }
}
