import { PlatformError } from "#kernel/errors/errors.ts";
import type { PreparedRecord } from "./prepared-record.ts";

/** The fields of existing records with the same name that the checks use. */
export interface Sibling {
  readonly id: string;
  readonly type: string;
  readonly content_key: string;
  readonly priority: number | null;
  readonly rdata: string;
  readonly proxied: number;
}

/** Size limit of all records of one name and type, in wire format (dns.md, "Limits"). */
export const SET_BYTES_MAX = 8192;
const HOST_TYPES: ReadonlySet<string> = new Set(["A", "AAAA", "CNAME"]);
/**
 * Types beside a delegation's NS records: DS (RFC 4035 §2.5), and glue, which the zone serves without authority (RFC 1034
 * §4.2.1).
 */
const DELEGATION_TYPES: ReadonlySet<string> = new Set(["NS", "DS"]);
const GLUE_TYPES: ReadonlySet<string> = new Set(["A", "AAAA"]);

/** The fields by which a pair of records is checked. */
type Paired = Pick<Sibling, "type" | "proxied">;

const isAtCut = ({ type, proxied }: Paired): boolean => DELEGATION_TYPES.has(type) || (GLUE_TYPES.has(type) && proxied === 0);

/** The edge answers for a proxied alias, so clients never see the alias beside other records. */
const isHidden = ({ type, proxied }: Paired): boolean => type === "CNAME" && proxied === 1;

/** Types that redirect a name, beside which not even a proxied alias is possible. */
const LEADING_TYPES: ReadonlySet<string> = new Set(["NS", "DNAME"]);

/** Throws if the record cannot exist beside its siblings: conflict first, then duplicate, then size. */
export function checkSiblings(record: PreparedRecord, siblings: readonly Sibling[], zoneName: string): void {
  const apex = record.name === zoneName;
  for (const sibling of siblings) checkPair(record, sibling, apex);
  const set = siblings.filter((sibling) => sibling.type === record.type);
  for (const sibling of set) {
    if (sameContent(record, sibling)) throw new PlatformError("dns_record_exists");
  }
  let bytes = bytesOf(record.rdata);
  for (const sibling of set) bytes += bytesOf(sibling.rdata);
  if (bytes > SET_BYTES_MAX) throw new PlatformError("dns_set_too_long", { source: "/content" });
}

function checkPair(record: Paired, sibling: Paired, apex: boolean): void {
  const { type } = record;
  const other = sibling.type;
  // A name can have only one DNAME (RFC 6672 §2.4).
  if (type === "DNAME" && other === "DNAME") {
    throw new PlatformError("dns_host_exists", { message: "A DNAME record with that host already exists." });
  }
  if (type === "CNAME" && HOST_TYPES.has(other)) throw new PlatformError("dns_host_exists");
  if (other === "CNAME" && HOST_TYPES.has(type)) throw new PlatformError("dns_cname_exists");
  // A CNAME at the apex is flattened, so it may exist beside the records that every apex has (dns.md, "Flattening").
  if (apex) return;
  if ((isHidden(record) && !LEADING_TYPES.has(other)) || (isHidden(sibling) && !LEADING_TYPES.has(type))) return;
  if (other === "CNAME") throw new PlatformError("dns_cname_exists");
  if (other === "NS" && !isAtCut(record)) throw new PlatformError("dns_ns_exists");
  if (type === "CNAME" || (type === "NS" && !isAtCut(sibling))) {
    throw new PlatformError("dns_host_exists", {
      message: `A record of type ${other} with that host already exists and cannot coexist with ${type}.`,
    });
  }
}

/** Types whose content is a host name and a priority; case does not matter (RFC 4343). */
const NAME_TYPES: ReadonlySet<string> = new Set(["CNAME", "MX", "NS", "PTR", "SRV"]);

const sameContent = (record: PreparedRecord, sibling: Sibling): boolean => identityOf(record) === identityOf(sibling);

/**
 * A key that is equal for duplicate records of one name. For TXT it keeps case, because keys are case-sensitive, and
 * ignores how the text is split and quoted.
 */
export function identityOf(record: Omit<Sibling, "id" | "proxied">): string {
  if (record.type === "TXT") return `TXT ${joined(record.rdata)}`;
  if (NAME_TYPES.has(record.type)) return `${record.type} ${record.priority} ${record.content_key}`;
  return `${record.type} ${record.rdata}`;
}

/** The concatenated character strings of TXT RDATA. */
function joined(rdata: string): string {
  const bytes = Buffer.from(rdata, "base64");
  let text = "";
  for (let at = 0; at < bytes.length; at += 1 + bytes[at]!) text += bytes.toString("latin1", at + 1, at + 1 + bytes[at]!);
  return text;
}

const bytesOf = (base64: string): number =>
  Math.floor((base64.length * 3) / 4) - (base64.endsWith("==") ? 2 : base64.endsWith("=") ? 1 : 0);
