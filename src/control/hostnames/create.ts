import type { CertificateOrdering } from "#control/certificates/create.ts";
import { createHostnameIssuer } from "./hostname-issuer.ts";
import { createHostnameOwner } from "./hostname-owner.ts";
import type { IssuerName } from "#control/certificates/choose-authority.ts";
import type { OrderOwner } from "#control/certificates/owner.ts";
import type { Clock } from "#kernel/clock.ts";
import { classifyIp } from "#kernel/net/ip-class.ts";
import { type IpAddress, parseIp } from "#kernel/net/ip.ts";
import type { Sealer } from "#kernel/crypto/seal.ts";
import type { Store } from "#store/database/store.ts";
import { createCustomHostnames, type CustomHostnames } from "./custom-hostnames.ts";
import { createFallbackOrigins, type FallbackOrigins } from "./fallback-origins.ts";
import { createShowsToken } from "./fetch-token.ts";
import { createZoneHolds, type ZoneHolds } from "./hold.ts";
import { createHostnameCertificates } from "./hostname-certificates.ts";
import { createHostnameChecks, type HostnameChecks } from "./hostname-checks.ts";
import { createHostnameDns, type HostnameDns } from "#control/certificates/hostname-dns.ts";
import { createIssuanceLimit } from "./issuance-limit.ts";
import { createOwnCertificates } from "./own-certificate.ts";

export interface CustomHostnameDeps {
  readonly store: Store;
  readonly clock: Clock;
  readonly sealer: Sealer;
  /** Creates the ordering of certificates. */
  ordering(hostnames: OrderOwner, dns: HostnameDns): CertificateOrdering;
  /** In canonical form. */
  readonly edgeAddresses: ReadonlySet<string>;
  readonly vendorPrefix: string;
  /** Of certificates of custom hostnames, in order of preference. */
  readonly issuers: readonly IssuerName[];
  readonly scanResolvers?: readonly string[];
  readonly customHostnamesPerZoneMax?: number;
  readonly hostnameIssuancesPerMinute?: number;
  localOriginAllowed(address: IpAddress): boolean;
  /** Whether the operator trusts the account without proofs. */
  isTrustedAccount(accountId: string): Promise<boolean>;
}

const PER_ZONE_MAX = 50_000;
/** SPEC 8. */
const ISSUANCES_PER_MINUTE = 15;

/** The use-cases of custom hostnames. */
export interface CustomHostnameControl {
  readonly certificateOrdering: CertificateOrdering;
  readonly customHostnames: CustomHostnames;
  readonly fallbackOrigins: FallbackOrigins;
  readonly hostnameChecks: HostnameChecks;
  readonly zoneHolds: ZoneHolds;
}

/** Creates the use-cases of custom hostnames and connects them. */
export function createCustomHostnameControl(deps: CustomHostnameDeps): CustomHostnameControl {
  const { store, clock, sealer, edgeAddresses, vendorPrefix } = deps;
  const certificates = createHostnameCertificates({ store, clock, sealer });
  const mayAsk = (text: string): boolean => {
    const address = parseIp(text);
    return address !== undefined && (classifyIp(address) === "global" || deps.localOriginAllowed(address));
  };
  const dns = createHostnameDns({ store, resolvers: deps.scanResolvers ?? [] });
  const showsToken = createShowsToken({ allows: mayAsk, userAgent: "Selvedge Custom Hostname Verification" });
  const certificateOrdering = deps.ordering(createHostnameOwner({ store, certificates, dns, showsToken }), dns);
  const issuer = createHostnameIssuer({ store, orders: certificateOrdering.orders });
  const checks = createHostnameChecks({
    ...{ store, clock, edgeAddresses, vendorPrefix, issuer, dns, showsToken },
    isTrustedAccount: deps.isTrustedAccount,
  });
  return {
    certificateOrdering,
    customHostnames: createCustomHostnames({
      ...{ store, clock, checks, issuer, vendorPrefix },
      issuers: deps.issuers,
      own: createOwnCertificates({ clock, certificates }),
      limit: createIssuanceLimit({ store, clock, perMinuteMax: deps.hostnameIssuancesPerMinute ?? ISSUANCES_PER_MINUTE }),
      perZoneMax: deps.customHostnamesPerZoneMax ?? PER_ZONE_MAX,
    }),
    fallbackOrigins: createFallbackOrigins({ store, clock }),
    hostnameChecks: checks,
    zoneHolds: createZoneHolds({ store, clock }),
  };
}
