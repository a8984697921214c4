import type { Dialect } from "#store/queries/session.ts";

/** Large imports of zone files in progress (store/dns/dns-imports.ts). */
export function dnsImports({ text, tableOptions }: Dialect): readonly string[] {
  return [
    `CREATE TABLE dns_imports (${[
      `zone_id ${text} PRIMARY KEY REFERENCES zones (id) ON DELETE CASCADE`,
      `id ${text} NOT NULL`,
      `touched_on ${text} NOT NULL`,
    ].join(", ")}) ${tableOptions}`,
  ];
}
