import type { DnsRecord } from "#model/dns/dns-record.ts";
import { attributesText } from "#model/dns/record-attributes.ts";
import { encodeContent, presentationText, RdataError } from "#wire/dns/record-types.ts";

/** A record as a line of a zone file (RFC 1035 §5.1); attributes without a field in such a file are in its comment. */
export function recordLine(record: DnsRecord, zoneName: string): string {
  const { name, type, ttl, comment, tags, proxied, settings } = record;
  const attributes = attributesText({ comment, tags, ...(proxied ? { proxied } : {}), settings });
  const line = [`${name}.`, ttl, "IN", type, rdataText(record, zoneName)].join(" ");
  return attributes === "" ? line : `${line} ; ${attributes}`;
}

/** A newer server may have types that this program does not know: their content is printed unchanged. */
function rdataText({ type, content, priority }: DnsRecord, zoneName: string): string {
  try {
    return presentationText(type, encodeContent(type, content, { origin: zoneName, priority }));
  } catch (error) {
    if (error instanceof RdataError) return [...(priority === undefined ? [] : [priority]), content].join(" ");
    throw error;
  }
}
