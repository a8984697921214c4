import { NAME_BYTES_MAX, type DnsName } from "#wire/dns/name.ts";
import type { Lookup } from "#nameserver/zones/lookup.ts";

/** The name that the DNAME produces for a name below its owner (RFC 6672 §2.2); undefined if it is too long. */
export function substituteDname(name: DnsName, { owner, set }: Extract<Lookup, { kind: "redirected" }>): DnsName | undefined {
  const target = Buffer.concat([name.subarray(0, name.length - owner.length), set.rdatas[0] as Uint8Array]);
  return target.length > NAME_BYTES_MAX ? undefined : target;
}
