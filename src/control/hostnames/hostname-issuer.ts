import type { CertificateIssuer } from "#control/hostnames/certificate-issuer.ts";
import { customHostname, type CustomHostnameRow } from "#store/hostnames/custom-hostnames.ts";
import type { Store } from "#store/database/store.ts";
import { lockZone, zoneRowById } from "#store/zones/zones.ts";
import type { CertificateOrders, CertificateRequest } from "#control/certificates/orders.ts";

/** Obtains certificates for custom hostnames from any suitable authority. */
export const createHostnameIssuer = ({
  store,
  orders,
}: {
  readonly store: Store;
  readonly orders: CertificateOrders;
}): CertificateIssuer => ({
  order: async (unit, row) => {
    if (row.ssl_status === null || row.ssl_status === "active") return;
    if ((await zoneRowById(unit.db, row.zone_id))?.status === "active") await orders.request(unit, wishOf(row));
  },
  request: async (ids) => {
    for (const id of ids) {
      const row = await customHostname(store.read, id);
      if (row === undefined || row.ssl_status === null || row.ssl_status === "active") continue;
      // A hostname of an inactive zone orders nothing, because authorities limit certificates per name. The check that
      // activates the hostname requests the certificate again.
      if ((await zoneRowById(store.read, row.zone_id))?.status !== "active") continue;
      const wish = wishOf(row);
      await store.write(async (unit) => {
        if (await lockZone(unit.db, row.zone_id)) await orders.request(unit, wish);
      });
      await orders.workFor(wish);
    }
  },
});

/** The certificate request of a hostname. HTTP validation does not cover wildcards (RFC 8555 §7.1.3), so those use TXT. */
const wishOf = ({ id, zone_id, hostname, wildcard, ssl_method, certificate_authority }: CustomHostnameRow): CertificateRequest => ({
  owner_kind: "custom_hostname",
  owner_id: id,
  zone_id,
  hosts: wildcard === 1 ? [hostname, `*.${hostname}`] : [hostname],
  method: ssl_method === "http" && wildcard === 0 ? "http" : "txt",
  requested: certificate_authority,
});
