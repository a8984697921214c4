import { CHALLENGE_PATH } from "#acme/issuance.ts";
import type { HostnameCertificates } from "#control/hostnames/hostname-certificates.ts";
import type { HostnameDns } from "#control/certificates/hostname-dns.ts";
import type { ShowsToken } from "#control/hostnames/fetch-token.ts";
import { BRANDED_COMMON_NAME, type HostnameSsl } from "#model/hostnames/custom-hostname.ts";
import type { SslStatus } from "#model/hostnames/custom-hostname-states.ts";
import { ANY_ACCOUNT } from "#snapshot/reliance.ts";
import { customHostname, type CustomHostnameRow } from "#store/hostnames/custom-hostnames.ts";
import type { Store } from "#store/database/store.ts";
import { zoneRowById } from "#store/zones/zones.ts";
import type { OrderOwner } from "#control/certificates/owner.ts";

/** Statuses that stay displayed while an existing certificate is renewed. */
const IN_USE: ReadonlySet<SslStatus> = new Set(["active", "pending_expiration", "expired"]);

/** Custom hostnames as owners of certificate orders; `ssl` displays the progress. */
export function createHostnameOwner(deps: {
  readonly store: Store;
  readonly certificates: HostnameCertificates;
  readonly dns: HostnameDns;
  readonly showsToken: ShowsToken;
}): OrderOwner {
  const { store, certificates, dns, showsToken } = deps;
  const found = (id: string): Promise<CustomHostnameRow | undefined> => customHostname(store.read, id);
  return {
    progress: async (call, id, { status, records, error, isCaaError }) => {
      const row = await found(id);
      if (row === undefined || !wantsOrders(row)) return false;
      await certificates.progress(call, id, {
        status: IN_USE.has(row.ssl_status as SslStatus) ? (row.ssl_status as SslStatus) : status,
        validation_records: [...records],
        dcv_delegation_records: [{ cname: `_acme-challenge.${row.hostname}`, cname_target: await delegationTarget(store, row) }],
        ...(error === "" ? {} : { validation_errors: [{ message: error }] }),
        caa_error: isCaaError,
      });
      return true;
    },
    deploy: async (call, id, { chain, privateKey, hosts, issuer }) => {
      const row = await found(id);
      return row !== undefined && wantsOrders(row) && certificates.deploy(call, id, { chain, privateKey, hosts, issuer });
    },
    leadsHere: async (id) => (await found(id))?.status === "active",
    isProofShown: async (id, { txt_name, txt_value, http_url, http_body }) => {
      const zone = await zoneRowById(store.read, (await found(id))?.zone_id ?? "");
      const names = dns(zone?.account_id ?? ANY_ACCOUNT);
      if (txt_name !== undefined && txt_value !== undefined) {
        const looked = await names.txt(txt_name);
        return "found" in looked && looked.found.includes(txt_value);
      }
      if (http_url === undefined || http_body === undefined) return false;
      const host = new URL(http_url).hostname;
      const looked = await names.addresses(host);
      return (
        "found" in looked && showsToken(host, looked.found, [CHALLENGE_PATH + http_url.slice(http_url.lastIndexOf("/") + 1)], http_body)
      );
    },
    localNames: async (id, hosts) => {
      // SPEC 2.7: the first name is the Common Name. External authorities would not accept our name, and omit the Common
      // Name if none fits.
      const isBranded = (await found(id))?.branding === 1;
      return isBranded ? [BRANDED_COMMON_NAME, ...hosts] : hosts;
    },
  };
}

/** A hostname with an uploaded certificate needs no orders. */
const wantsOrders = ({ ssl, ssl_status }: CustomHostnameRow): boolean =>
  ssl !== null && ssl_status !== null && (JSON.parse(ssl) as HostnameSsl).custom_certificate === undefined;

/** A name in the service's zone. An alias from the challenge's name to it proves the name permanently. */
async function delegationTarget(store: Store, row: CustomHostnameRow): Promise<string> {
  return `${row.id}.dcv.${(await zoneRowById(store.read, row.zone_id))?.name ?? ""}`;
}
