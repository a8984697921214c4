/** The types that forms and filters offer, each with an example of its content. The API accepts others, too. */
export const RECORD_EXAMPLES: readonly (readonly [type: string, content: string])[] = [
  ["A", "203.0.113.10"],
  ["AAAA", "2001:db8::10"],
  ["CNAME", "shop.example.net"],
  ["MX", "mail.example.net"],
  ["TXT", "v=spf1 include:example.net -all"],
  ["NS", "ns1.example.net"],
  ["SRV", "5 5060 sip.example.net"],
  ["CAA", '0 issue "letsencrypt.org"'],
  ["HTTPS", '1 . alpn="h2"'],
  ["PTR", "host.example.net"],
  ["CERT", "1 0 0 MIIB…"],
  ["DNSKEY", "257 3 13 mdsswUyr…"],
  ["DS", "2371 13 2 1f987cc6583e92df…"],
  ["LOC", "52 22 23.000 N 4 53 32.000 E -2.00m"],
  ["NAPTR", '100 10 "u" "E2U+sip" "!^.*$!sip:info@example.net!" .'],
  ["OPENPGPKEY", "mQENBF…"],
  ["SMIMEA", "3 1 1 0d6fce3b1d3f5b4a…"],
  ["SSHFP", "4 2 123456789abcdef6…"],
  ["SVCB", '1 svc.example.net alpn="h2"'],
  ["TLSA", "3 1 1 0d6fce3b1d3f5b4a…"],
  ["URI", '1 "https://example.net/"'],
  ["AFSDB", "1 afs.example.net"],
  ["AMTRELAY", "10 0 1 203.0.113.15"],
  ["APL", "1:192.0.2.0/24 !1:192.0.2.64/28"],
  ["CSYNC", "66 3 A NS AAAA"],
  ["DNAME", "shop.example.net"],
  ["DSYNC", "CDS NOTIFY 5359 notify.example.net"],
  ["EUI48", "00-00-5e-00-53-2a"],
  ["HINFO", '"ARM64" "Linux"'],
  ["HIP", "2 200100107b1a74df AQIDBA== rvs.example.net"],
  ["IPSECKEY", "10 1 2 192.0.2.38 AQNRU3mG7TVT"],
  ["KX", "10 keys.example.net"],
  ["RP", "admin.example.net text.example.net"],
];

export const RECORD_TYPES: readonly string[] = RECORD_EXAMPLES.map(([type]) => type);

/** Fields of the content after the priority, of types that have one beside the content. */
const FIELDS_AFTER_PRIORITY: Readonly<Record<string, number>> = { MX: 1, SRV: 3, URI: 2 };

export const hasPriority = (type: string): boolean => FIELDS_AFTER_PRIORITY[type] !== undefined;

/** Content as zone files have it may begin with the priority, which then replaces that of the form. */
export function withPriority(type: string, content: string, priority: number): { readonly content: string; readonly priority: number } {
  const [first = "", ...others] = content.trim().split(/\s+/);
  if (others.length !== FIELDS_AFTER_PRIORITY[type] || !/^\d+$/.test(first)) return { content, priority };
  return { content: content.trim().slice(first.length).trim(), priority: Number(first) };
}

/** Tags from a text with commas. */
export const tagsOf = (text: string): string[] =>
  text
    .split(",")
    .map((tag) => tag.trim())
    .filter(Boolean);
