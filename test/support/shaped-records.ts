/** One record of each type that has its own response format. */
export const RECORDS_OF_ALL_SHAPES: readonly object[] = [
  { type: "AAAA", name: "shaped", content: "2001:db8::1", comment: "of the planted zone" },
  { type: "CNAME", name: "alias", content: "shaped.planted.example", proxied: true },
  { type: "MX", name: "shaped", content: "mail.planted.example", priority: 10 },
  { type: "NS", name: "child", content: "ns1.elsewhere.example" },
  { type: "PTR", name: "pointer", content: "shaped.planted.example" },
  { type: "TXT", name: "shaped", content: '"text"' },
  { type: "CAA", name: "shaped", data: { flags: 0, tag: "issue", value: "ca.example" } },
  { type: "CERT", name: "cert", data: { type: 9, key_tag: 1, algorithm: 1, certificate: "AQID" } },
  { type: "DNSKEY", name: "key", data: { flags: 257, protocol: 3, algorithm: 13, public_key: "AQID" } },
  { type: "DS", name: "child", data: { key_tag: 1, algorithm: 13, digest_type: 2, digest: "ab".repeat(32) } },
  { type: "HTTPS", name: "shaped", data: { priority: 1, target: ".", value: 'alpn="h2"' } },
  { type: "SVCB", name: "svcb", data: { priority: 1, target: ".", value: 'alpn="h2"' } },
  {
    type: "LOC",
    name: "loc",
    data: {
      ...{ lat_degrees: 52, lat_minutes: 30, lat_seconds: 0, lat_direction: "N" },
      ...{ long_degrees: 13, long_minutes: 20, long_seconds: 0, long_direction: "E" },
      ...{ altitude: 30, size: 1, precision_horz: 10, precision_vert: 10 },
    },
  },
  {
    type: "NAPTR",
    name: "naptr",
    data: { order: 1, preference: 1, flags: "U", service: "E2U+sip", regex: "!^.*$!sip:a@b.example!", replacement: "." },
  },
  { type: "SMIMEA", name: "smimea", data: { usage: 3, selector: 1, matching_type: 1, certificate: "ab".repeat(32) } },
  { type: "SRV", name: "_sip._tcp", data: { priority: 1, weight: 1, port: 5060, target: "shaped.planted.example" } },
  { type: "SSHFP", name: "sshfp", data: { algorithm: 4, type: 2, fingerprint: "ab".repeat(32) } },
  { type: "TLSA", name: "_443._tcp", data: { usage: 3, selector: 1, matching_type: 1, certificate: "ab".repeat(32) } },
  { type: "URI", name: "uri", priority: 1, data: { weight: 1, target: "https://planted.example/" } },
];
