import { backgroundTurn } from "#kernel/background-turn.ts";
import { attributesText, type RecordFlags } from "#model/dns/record-attributes.ts";
import type { ZoneEntry } from "#snapshot/entries.ts";
import type { DnsRecordRow } from "#store/dns/record-row.ts";
import { absoluteText, presentationText } from "#wire/dns/record-types.ts";
import { parseAbsoluteName } from "#wire/dns/name.ts";

/** The columns of a record that a zone file contains. */
export type FiledRow = Pick<DnsRecordRow, "name" | "type" | "ttl" | "proxied" | "settings" | "comment" | "tags" | "rdata">;

/** Lines of one type, in the order of their sections. */
type Sections = Map<string, string[]>;

/**
 * Writes a zone as a master file: SOA and NS as served, then the records by type, name and content, with attributes in
 * comments. The output does not depend on the time, so that equal zones have equal files. A TTL of 1 means automatic, as
 * in the API. `pages` returns the records in the order of their names. Reads all of them, and then returns the file in parts.
 */
export async function writeZoneFile(
  entry: ZoneEntry,
  serial: number,
  pages: AsyncIterable<readonly FiledRow[]>,
): Promise<AsyncGenerator<string, undefined>> {
  const sections: Sections = new Map();
  const apex = absolute(entry.name);
  for await (const page of pages) {
    for (const row of page) section(sections, row.type).push(line(row));
    await backgroundTurn();
  }
  const { soa } = entry;
  const numbers = [serial, soa.refresh, soa.retry, soa.expire, soa.min_ttl].join(" ");
  const head = [
    `;;\n;; Domain:     ${apex}\n;; A time to live of 1 means automatic.\n;;\n`,
    `\n;; SOA Record\n${apex}\t${soa.ttl}\tIN\tSOA\t${absolute(soa.mname)} ${absolute(soa.rname)} ${numbers}\n`,
    `\n;; Name Servers of the Zone\n`,
    ...entry.name_servers.map((server) => `${apex}\t${entry.ns_ttl}\tIN\tNS\t${absolute(server)}\n`),
  ];
  const types = [...sections.keys()].sort();
  return (async function* (): AsyncGenerator<string, undefined> {
    yield head.join("");
    for (const type of types) {
      yield `\n;; ${type} Records\n`;
      const lines = inOrder(section(sections, type));
      sections.delete(type);
      for (let start = 0; start < lines.length; start += LINES_PER_PART) {
        await backgroundTurn();
        yield lines.slice(start, start + LINES_PER_PART).join("");
      }
    }
    return undefined;
  })();
}

const LINES_PER_PART = 1_000;

function section(sections: Sections, type: string): string[] {
  const known = sections.get(type);
  if (known) return known;
  const lines: string[] = [];
  sections.set(type, lines);
  return lines;
}

/** Sorted by the lines themselves, the only order that all zones with the same records share. */
const inOrder = (lines: string[]): string[] => lines.sort();

function line(row: FiledRow): string {
  const attributes = attributesText({
    comment: row.comment,
    tags: JSON.parse(row.tags) as string[],
    ...(row.proxied === 1 ? { proxied: true } : {}),
    settings: JSON.parse(row.settings) as RecordFlags,
  });
  const data = presentationText(row.type, Buffer.from(row.rdata, "base64"));
  return `${absolute(row.name)}\t${row.ttl}\tIN\t${row.type}\t${data}${attributes === "" ? "" : ` ; ${attributes}`}\n`;
}

const absolute = (name: string): string => absoluteText(parseAbsoluteName(name));
