import type { Clock } from "#kernel/clock.ts";
import { isoMicros } from "#kernel/clock.ts";
import { newId } from "#kernel/ids.ts";
import type { Sealer } from "#kernel/seal.ts";
import type { LocalCa } from "#acme/local-ca.ts";
import type { CertificateRow } from "#store/certificates.ts";

/** RFC 1035 §2.3.4: with the wildcard label the name must still fit. */
const WILDCARD_PARENT_LENGTH_MAX = 251;

/** The zone's first certificate: the apex and every name one label below it, the private key sealed. */
export async function issueZoneCertificate(
  deps: { readonly clock: Clock; readonly sealer: Sealer },
  ca: LocalCa,
  zone: { readonly id: string; readonly name: string },
): Promise<CertificateRow> {
  const id = newId();
  const hosts = zone.name.length <= WILDCARD_PARENT_LENGTH_MAX ? [zone.name, `*.${zone.name}`] : [zone.name];
  const issued = await ca.issue(hosts);
  return {
    id,
    zone_id: zone.id,
    hosts: JSON.stringify(hosts),
    chain: issued.chain,
    private_key: deps.sealer.seal(issued.privateKey, `certificate:${id}`),
    issuer: "local",
    not_before: issued.notBefore,
    not_after: issued.notAfter,
    created_on: isoMicros(deps.clock.nowMicros()),
  };
}
