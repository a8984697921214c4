import { sql } from "kysely";
import { newId } from "#kernel/crypto/ids.ts";
import { contentKey } from "#model/dns/dns-text.ts";
import { insertAccount } from "#store/access/accounts.ts";
import { writeRecords } from "#store/dns/dns-record-rows.ts";
import type { DnsRecordRow } from "#store/dns/record-row.ts";
import type { Store } from "#store/database/store.ts";
import { insertZone } from "#store/zones/zones.ts";
import { encodeContent } from "#wire/dns/record-types.ts";

export const RECORDS = 1_000_000;
const ON = "2026-01-01T00:00:00.000000Z";

/** Straight into the store, in large units, the lists' indexes made at the end: a minute instead of an hour. */
export async function fillStore(store: Store, zones: number): Promise<void> {
  const account_id = newId();
  await store.write(({ db }) => insertAccount(db, { id: account_id, name: "bench", type: "standard", settings: "{}", created_on: ON }));
  const { rows: indexes } = await sql<{ name: string; sql: string }>`
    SELECT name, sql FROM sqlite_master WHERE type = 'index' AND tbl_name = 'dns_records' AND sql IS NOT NULL`.execute(store.read);
  await store.write(async ({ db }) => {
    for (const { name } of indexes) await sql`DROP INDEX ${sql.ref(name)}`.execute(db);
  });
  const perZone = RECORDS / zones;
  for (let z = 0; z < zones; z++) {
    const id = newId();
    await store.write(({ db }) => insertZone(db, zoneRow(id, account_id, `zone${z}.example`, perZone)));
    for (let done = 0; done < perZone; done += UNIT) {
      const rows = Array.from({ length: Math.min(UNIT, perZone - done) }, (_, i) =>
        recordRow(id, `zone${z}.example`, z * perZone + done + i),
      );
      await store.write(({ db }) =>
        writeRecords(
          db,
          id,
          rows.map((after) => ({ before: null, after })),
        ),
      );
    }
  }
  for (const index of indexes) await store.write(({ db }) => sql.raw(index.sql).execute(db));
}

const UNIT = 20_000;

const zoneRow = (id: string, account_id: string, name: string, record_count: number) => ({
  id,
  account_id,
  name,
  status: "active",
  type: "full",
  paused: 0,
  plan: "enterprise",
  name_servers: "[]",
  settings: "{}",
  serial: 1,
  dns_version_count: 0,
  record_count,
  vanity_name_servers: "[]",
  proof: "operator",
  verification_key: "",
  pair: "[]",
  activated_on: null,
  created_on: ON,
  modified_on: ON,
});

/** 70 % A, 10 % AAAA, 10 % CNAME, 9 % TXT, 1 % MX; a tenth proxied, a tenth commented, a tenth tagged. */
function recordRow(zone_id: string, zoneName: string, n: number): DnsRecordRow {
  // A number with no visible relation to n, so that names, contents and IDs are in different orders.
  const mixed = Math.imul(n + 1, 0x9e37_79b1) >>> 0;
  const [type, content] = typeAndContent(mixed, n);
  return {
    id: newId(),
    zone_id,
    name: `${mixed.toString(36)}.${zoneName}`,
    type,
    content,
    content_key: contentKey(content),
    data: null,
    priority: type === "MX" ? 10 : null,
    ttl: n % 5 === 0 ? 300 : 1,
    proxied: n % 10 === 1 ? 1 : 0,
    settings: "{}",
    comment: n % 10 === 2 ? `ticket ${mixed % 20_000} of ${n % 97}` : null,
    tags: n % 10 === 3 ? JSON.stringify([`team:${mixed % 5_000}`]) : "[]",
    rdata: Buffer.from(encodeContent(type, content, { origin: zoneName, priority: 10 })).toString("base64"),
    comment_modified_on: null,
    tags_modified_on: null,
    created_on: ON,
    modified_on: ON,
  };
}

function typeAndContent(mixed: number, n: number): readonly [type: string, content: string] {
  const share = n % 100;
  if (share < 70) return ["A", `10.${mixed & 255}.${(mixed >> 8) & 255}.${(mixed >> 16) & 255}`];
  if (share < 80) return ["AAAA", `2001:db8::${(mixed & 0xffff).toString(16)}:${(mixed >>> 16).toString(16)}`];
  if (share < 90) return ["CNAME", `host${mixed % 100_000}.example.net`];
  return share < 99
    ? ["TXT", `"v=check${mixed.toString(36)} include:mail${mixed % 1000}.example.org ~all"`]
    : ["MX", `mx${mixed % 500}.example.net`];
}
