import type { Call } from "#control/call.ts";
import { forgetOrder } from "#control/certificates/orders.ts";
import { auditActor } from "#control/commit.ts";
import { type CustomHostnameRow, deleteCustomHostname, hostnameCertificates } from "#store/hostnames/custom-hostnames.ts";
import type { Unit } from "#store/database/store.ts";
import { zoneRowById } from "#store/zones/zones.ts";

/** Deletes a custom hostname and its certificates, from the database and the planes. */
export async function removeHostname(unit: Unit, call: Call, row: CustomHostnameRow): Promise<void> {
  for (const certificate of await hostnameCertificates(unit.db, row.id))
    unit.change({ kind: "certificate", id: certificate.id, value: null });
  unit.change({ kind: "custom_hostname", id: row.id, value: null });
  await forgetOrder(unit, { owner_kind: "custom_hostname", owner_id: row.id });
  await deleteCustomHostname(unit.db, row.id);
  unit.audit({
    action: "custom_hostname.delete",
    actor: auditActor(call),
    account_id: (await zoneRowById(unit.db, row.zone_id))?.account_id ?? null,
    zone_id: row.zone_id,
    resource: { type: "custom_hostname", id: row.id },
    before: { hostname: row.hostname, status: row.status },
  });
}
