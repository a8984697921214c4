import type { LocalCa } from "#acme/local-ca.ts";
import { systemCall } from "#control/call.ts";
import type { Clock } from "#kernel/clock.ts";
import { BRANDED_COMMON_NAME } from "#model/custom-hostname.ts";
import { customHostname, type CustomHostnameRow } from "#store/custom-hostnames.ts";
import type { Store } from "#store/store.ts";
import type { CertificateIssuer } from "./certificate-issuer.ts";
import type { HostnameCertificates } from "./hostname-certificates.ts";

/** The installation's own authority: it knows from the hostname's status that the name was given to the zone. */
export function createLocalIssuer(deps: {
  readonly store: Store;
  readonly clock: Clock;
  /** Null where the installation has none: hostnames wait. */
  readonly ca: LocalCa | null;
  readonly certificates: HostnameCertificates;
}): CertificateIssuer {
  const { store, clock, ca, certificates } = deps;
  const call = systemCall("local-issuer");

  const issue = async (row: CustomHostnameRow): Promise<void> => {
    if (row.ssl_status === null || (row.ssl_status === "active" && (row.ssl_due_ms ?? Infinity) > clock.nowMs())) return;
    if (ca === null || row.status !== "active") return void (await certificates.progress(call, row.id, { status: "pending_validation" }));
    const hosts = row.wildcard === 1 ? [row.hostname, `*.${row.hostname}`] : [row.hostname];
    // SPEC 2.7: the first name is the Common Name.
    const issued = await ca.issue(row.branding === 1 ? [BRANDED_COMMON_NAME, ...hosts] : hosts);
    await certificates.deploy(call, row.id, { chain: issued.chain, privateKey: issued.privateKey, hosts, issuer: "local" });
  };

  return {
    request: async (ids) => {
      for (const id of ids) {
        const row = await customHostname(store.read, id);
        try {
          if (row !== undefined) await issue(row);
        } catch (error) {
          await certificates.progress(call, id, {
            status: "pending_issuance",
            validation_errors: [{ message: `The local authority could not issue: ${(error as Error).message}` }],
          });
        }
      }
    },
  };
}
