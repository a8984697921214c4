import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { type ApiServer, ask, startApi } from "../support/api-server.ts";

/** Calls that clients make, written from their documentation and sources; none of them can be installed here. */
type RecordFields = Readonly<Record<string, unknown>>;

interface Client {
  readonly name: string;
  /** How it finds its zone. */
  readonly zones: (zone: string) => readonly string[];
  /** Records as it sends them; `ZONE` stands for the zone's name. */
  readonly wanted: readonly RecordFields[];
  /** How it lists what is already there. */
  readonly list: (wanted: RecordFields) => string;
  /** Whether a listed record is the wanted one, so that the client leaves it alone. */
  readonly isSame: (wanted: RecordFields, found: any) => boolean;
  /** The API date of its token; null for today. */
  readonly date?: string;
}

const OWNER = "heritage=external-dns,external-dns/owner=default,external-dns/resource=ingress/web/app";
const DIGEST = "0b9fa5a59eed715c26c1020c711b4f6ec42d58b0015e14337a39dad301c5afc3";

const equal = (fields: readonly string[]) => (wanted: RecordFields, found: any) =>
  fields.every((field) => field === "data" || wanted[field] === undefined || wanted[field] === found[field]) &&
  Object.entries((wanted["data"] ?? {}) as object).every(([key, value]) => found.data?.[key] === value || KEPT_OUT.has(key));

/** Parts of an SRV record's name, which its data had once. */
const KEPT_OUT: ReadonlySet<string> = new Set(["service", "proto", "name"]);
const undotted = (text: unknown): unknown => (typeof text === "string" && text.length > 1 ? text.replace(/\.$/, "") : text);

const CLIENTS: readonly Client[] = [
  {
    // Looks up one challenge at a time, and compares its content with what it sent.
    name: "cert-manager",
    zones: (zone) => [`/zones?name=_acme-challenge.www.${zone}`, `/zones?name=www.${zone}`, `/zones?name=${zone}`],
    wanted: ["first-key-authorisation_0", "second-key-authorisation-1"].map((content) => ({
      type: "TXT",
      name: "_acme-challenge.www.ZONE",
      content,
      ttl: 120,
    })),
    list: ({ name }) => `?per_page=100&type=TXT&name=${String(name)}`,
    isSame: equal(["name", "content"]),
  },
  {
    name: "external-dns",
    zones: () => ["/zones?per_page=50&page=1"],
    wanted: [
      { type: "A", name: "app.ZONE", content: "192.0.2.10", ttl: 1, proxied: false },
      { type: "AAAA", name: "app.ZONE", content: "2001:db8::10", ttl: 1, proxied: false },
      { type: "CNAME", name: "alias.ZONE", content: "lb.example.net", ttl: 1, proxied: true },
      ...["a-app", "aaaa-app", "cname-alias"].map((label) => ({
        type: "TXT",
        name: `${label}.ZONE`,
        content: `"${OWNER}"`,
        ttl: 1,
        proxied: false,
      })),
      {
        type: "SRV",
        name: "_sip._tcp.ZONE",
        content: "10 5 5060 sip.ZONE",
        ttl: 300,
        data: { priority: 10, weight: 5, port: 5060, target: "sip.ZONE" },
      },
      { type: "MX", name: "ZONE", content: "mx.example.net", ttl: 300, priority: 10 },
      { type: "NS", name: "sub.ZONE", content: "ns1.example.net", ttl: 300 },
    ],
    list: () => "?page=1&per_page=100",
    isSame: (wanted, found) =>
      equal(["name", "type", "ttl", "proxied", "data", "priority"])(wanted, found) &&
      (wanted["data"] !== undefined || wanted["content"] === found.content),
  },
  {
    // Sends names and targets as fully qualified names, TXT in quotes, and lists everything at once.
    name: "DNSControl",
    zones: () => ["/zones?per_page=50&page=1"],
    wanted: [
      { type: "A", name: "ZONE", content: "192.0.2.20", ttl: 1, proxied: true },
      { type: "A", name: "www.ZONE", content: "192.0.2.21", ttl: 300 },
      { type: "CNAME", name: "docs.ZONE", content: "docs.example.net.", ttl: 1 },
      { type: "MX", name: "ZONE", content: "mx.example.net.", ttl: 1, priority: 10 },
      { type: "TXT", name: "ZONE", content: '"v=spf1 -all"', ttl: 1 },
      { type: "TXT", name: "two.ZONE", content: `"${"a".repeat(255)}" "rest"`, ttl: 1 },
      { type: "CAA", name: "ZONE", ttl: 1, data: { flags: 0, tag: "issue", value: "letsencrypt.org" } },
      { type: "SSHFP", name: "host.ZONE", ttl: 1, data: { algorithm: 4, type: 2, fingerprint: DIGEST } },
      { type: "TLSA", name: "_443._tcp.ZONE", ttl: 1, data: { usage: 3, selector: 1, matching_type: 1, certificate: DIGEST } },
      { type: "NS", name: "sub.ZONE", content: "ns1.example.net.", ttl: 1 },
      { type: "DS", name: "sub.ZONE", ttl: 1, data: { key_tag: 60485, algorithm: 13, digest_type: 2, digest: DIGEST } },
      { type: "HTTPS", name: "svc.ZONE", ttl: 1, data: { priority: 1, target: ".", value: 'alpn="h3,h2"' } },
      {
        type: "NAPTR",
        name: "n.ZONE",
        ttl: 1,
        data: { order: 100, preference: 50, flags: "U", service: "SIP+D2U", regex: "!^.*$!sip:i@e.test!", replacement: "." },
      },
    ],
    list: () => "?per_page=1000&page=1",
    isSame: (wanted, found) =>
      equal(["name", "type", "ttl", "proxied", "data", "priority"])(wanted, found) &&
      (wanted["data"] !== undefined || undotted(wanted["content"]) === found.content),
  },
  {
    // Reads each record again by its identifier, and every attribute of the configuration must be as it was written.
    name: "Terraform",
    zones: () => [],
    wanted: [
      { type: "A", name: "tf.ZONE", content: "192.0.2.30", ttl: 1, proxied: true, comment: "by Terraform", tags: [], settings: {} },
      { type: "TXT", name: "tf.ZONE", content: "google-site-verification=abc", ttl: 3600, proxied: false, tags: [], settings: {} },
      { type: "TXT", name: "quoted.tf.ZONE", content: '"v=DMARC1; p=none"', ttl: 3600, proxied: false, tags: [], settings: {} },
      { type: "CAA", name: "tf.ZONE", ttl: 1, data: { flags: 0, tag: "issue", value: "letsencrypt.org" }, settings: {} },
      {
        type: "SRV",
        name: "_x._tcp.ZONE",
        ttl: 1,
        data: { priority: 1, weight: 2, port: 3, target: "tf.ZONE" },
        priority: 1,
        settings: {},
      },
      { type: "MX", name: "tf.ZONE", content: "mx.example.net", priority: 5, ttl: 1, settings: {} },
      { type: "CNAME", name: "c.tf.ZONE", content: "example.net", ttl: 1, proxied: false, settings: { flatten_cname: false } },
    ],
    list: () => "?per_page=100&page=1",
    isSame: equal(["name", "type", "content", "ttl", "proxied", "comment", "priority", "data"]),
  },
  {
    // Version 1.2 sends the parts of an SRV record's name in its data, which ended on 2024-05-31.
    name: "octoDNS",
    zones: () => ["/zones?page=1&per_page=50"],
    date: "2024-05-30",
    wanted: [
      { type: "A", name: "ZONE", content: "192.0.2.1", ttl: 300, proxied: false },
      { type: "A", name: "ZONE", content: "192.0.2.2", ttl: 300, proxied: false },
      { type: "CNAME", name: "*.wild.ZONE", content: "www.ZONE.", ttl: 300, proxied: false },
      { type: "MX", name: "ZONE", content: "mx1.ZONE.", priority: 10, ttl: 300 },
      { type: "TXT", name: "ZONE", content: '"semi; colon"', ttl: 300 },
      { type: "CAA", name: "ZONE", ttl: 300, data: { flags: 128, tag: "iodef", value: "mailto:security@example.net" } },
      {
        ...{ type: "SRV", name: "_imap._tcp.ZONE", ttl: 300 },
        data: { service: "_imap", proto: "_tcp", name: "ZONE", priority: 0, weight: 1, port: 993, target: "mail.ZONE" },
      },
      { type: "SVCB", name: "svc.ZONE", ttl: 300, data: { priority: 16, target: "other.example.net.", value: 'port="8443"' } },
      { type: "SSHFP", name: "ssh.ZONE", ttl: 300, data: { algorithm: 4, type: 2, fingerprint: DIGEST } },
      { type: "PTR", name: "ptr.ZONE", content: "www.ZONE.", ttl: 300 },
      {
        ...{ type: "LOC", name: "loc.ZONE", ttl: 300 },
        data: {
          ...{
            altitude: 20,
            lat_degrees: 31,
            lat_direction: "S",
            lat_minutes: 58,
            lat_seconds: 52.1,
            long_degrees: 115,
            long_direction: "E",
          },
          ...{ long_minutes: 49, long_seconds: 11.7, precision_horz: 10, precision_vert: 2, size: 10 },
        },
      },
    ],
    list: () => "?page=1&per_page=100",
    isSame: (wanted, found) =>
      equal(["name", "type", "ttl", "proxied", "data", "priority"])(wanted, found) &&
      (wanted["data"] !== undefined || undotted(wanted["content"]) === found.content),
  },
];

let server: ApiServer;
before(async () => {
  server = await startApi({ records: { txtContent: "as_sent" } });
});
after(() => server.close());

for (const client of CLIENTS)
  test(`${client.name}: the second run changes nothing, and the cleanup deletes everything`, async () => {
    const domain = `${client.name.toLowerCase()}.test`;
    const named = JSON.parse(JSON.stringify(client.wanted).replaceAll("ZONE", domain)) as RecordFields[];
    const created = await ask(server, "POST", "/zones", { body: { name: domain, account: { id: server.account_id } } });
    let path = `/zones/${created.body.result.id}/dns_records`;
    const asking = client.date === undefined ? {} : { token: await pinned(client.date) };
    const lookUps: readonly (string | undefined)[] = await Promise.all(
      client.zones(domain).map(async (query) => {
        const { body } = await ask(server, "GET", query, asking);
        return (body.result as { id: string; name: string }[]).find(({ name }) => name === domain)?.id;
      }),
    );
    if (lookUps.length > 0) path = `/zones/${lookUps.at(-1)}/dns_records`;

    const found = async (wanted: RecordFields) => {
      const { status, body } = await ask(server, "GET", path + client.list(wanted), asking);
      assert.equal(status, 200);
      return (body.result as { id: string }[]).find((record) => client.isSame(wanted, record));
    };
    const run = async (): Promise<string[]> => {
      const made: string[] = [];
      for (const wanted of named) {
        if ((await found(wanted)) !== undefined) continue;
        const { status, text } = await ask(server, "POST", path, { ...asking, body: wanted });
        assert.equal(status, 200, text);
        made.push(`${String(wanted["type"])} ${String(wanted["name"])}`);
      }
      return made;
    };
    assert.equal((await run()).length, named.length);
    assert.deepEqual(await run(), [], "the client sees what it sent");

    const again = await ask(server, "POST", path, { ...asking, body: named[0] });
    // Clients look for the code of today or for the one that it had before 2023.
    assert.deepEqual([again.status, again.body.errors.map(({ code }: { code: number }) => code)], [400, [81058, 81057]]);

    for (const wanted of named) {
      const record = await found(wanted);
      assert.equal((await ask(server, "DELETE", `${path}/${record?.id}`, asking)).status, 200);
    }
    assert.deepEqual((await ask(server, "GET", path)).body.result, []);
  });

async function pinned(api_date: string): Promise<string> {
  const groups = (await ask(server, "GET", "/user/tokens/permission_groups")).body.result as { id: string; name: string }[];
  const wanted = ["DNS Write", "Zone Read"].map((name) => ({ id: groups.find((group) => group.name === name)?.id }));
  const { body } = await ask(server, "POST", "/user/tokens", {
    body: {
      ...{ name: "older client", api_date },
      policies: [{ effect: "allow", resources: { "com.cloudflare.api.account.zone.*": "*" }, permission_groups: wanted }],
    },
  });
  return body.result.value;
}
