import type { Dialect } from "#store/queries/session.ts";

/** Pending certificate orders, and renewal times of issued certificates. */
export function certificateOrders({ text, integer, tableOptions }: Dialect): readonly string[] {
  const table = (name: string, columns: readonly string[]): string => `CREATE TABLE ${name} (${columns.join(", ")}) ${tableOptions}`;
  const owner = [
    `owner_kind ${text} NOT NULL`,
    `owner_id ${text} NOT NULL`,
    `zone_id ${text} NOT NULL REFERENCES zones (id) ON DELETE CASCADE`,
    `hosts ${text} NOT NULL`,
    `method ${text} NOT NULL`,
    `requested ${text} NOT NULL`,
  ];
  return [
    table("certificate_orders", [
      `id ${text} PRIMARY KEY`,
      ...owner,
      `authority ${text} NOT NULL`,
      `status ${text} NOT NULL`,
      `error ${text} NOT NULL`,
      `placed ${text}`,
      `private_key ${text}`,
      `replaces ${text}`,
      `tries ${integer} NOT NULL`,
      `due_ms ${integer} NOT NULL`,
      `lease_ms ${integer} NOT NULL`,
      `created_ms ${integer} NOT NULL`,
    ]),
    "CREATE UNIQUE INDEX certificate_orders_by_owner ON certificate_orders (owner_kind, owner_id)",
    "CREATE INDEX certificate_orders_due ON certificate_orders (due_ms)",
    "CREATE INDEX certificate_orders_by_zone ON certificate_orders (zone_id)",
    table("certificate_renewals", [
      ...owner,
      `authority ${text} NOT NULL`,
      `renewal_id ${text}`,
      `renew_ms ${integer} NOT NULL`,
      `advice_ms ${integer} NOT NULL`,
      "PRIMARY KEY (owner_kind, owner_id)",
    ]),
    "CREATE INDEX certificate_renewals_due ON certificate_renewals (renew_ms)",
    "CREATE INDEX certificate_renewals_advice ON certificate_renewals (advice_ms)",
  ];
}
