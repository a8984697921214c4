import type { LocalCa } from "#acme/local-ca.ts";
import type { Control } from "#control/control.ts";
import type { Clock } from "#kernel/clock.ts";
import { classifyIp } from "#kernel/ip-class.ts";
import { type IpAddress, parseIp } from "#kernel/ip.ts";
import type { Sealer } from "#kernel/seal.ts";
import type { Store } from "#store/store.ts";
import { createCustomHostnames } from "./custom-hostnames.ts";
import { createFallbackOrigins } from "./fallback-origins.ts";
import { createShowsToken } from "./fetch-token.ts";
import { createZoneHolds } from "./hold.ts";
import { createHostnameCertificates } from "./hostname-certificates.ts";
import { createHostnameChecks } from "./hostname-checks.ts";
import { createHostnameDns } from "./hostname-dns.ts";
import { createIssuanceLimit } from "./issuance-limit.ts";
import { createLocalIssuer } from "./local-issuer.ts";
import { createOwnCertificates } from "./own-certificate.ts";

export interface CustomHostnameDeps {
  readonly store: Store;
  readonly clock: Clock;
  readonly sealer: Sealer;
  readonly ca: LocalCa | null;
  /** Canonical. */
  readonly edgeAddresses: ReadonlySet<string>;
  readonly vendorPrefix: string;
  readonly scanResolvers?: readonly string[];
  readonly customHostnamesPerZoneMax?: number;
  readonly hostnameIssuancesPerMinute?: number;
  localOriginAllowed(address: IpAddress): boolean;
}

const PER_ZONE_MAX = 50_000;
/** SPEC 8. */
const ISSUANCES_PER_MINUTE = 15;

/** Everything that custom hostnames need of each other. */
export function createCustomHostnameControl(
  deps: CustomHostnameDeps,
): Pick<Control, "customHostnames" | "fallbackOrigins" | "hostnameChecks" | "zoneHolds"> {
  const { store, clock, sealer, ca, edgeAddresses, vendorPrefix } = deps;
  const certificates = createHostnameCertificates({ store, clock, sealer });
  const issuer = createLocalIssuer({ store, clock, ca, certificates });
  const mayAsk = (text: string): boolean => {
    const address = parseIp(text);
    return address !== undefined && (classifyIp(address) === "global" || deps.localOriginAllowed(address));
  };
  const checks = createHostnameChecks({
    ...{ store, clock, edgeAddresses, vendorPrefix, issuer },
    dns: createHostnameDns({ store, resolvers: deps.scanResolvers ?? [] }),
    showsToken: createShowsToken({ allows: mayAsk, userAgent: "Selvedge Custom Hostname Verification" }),
  });
  return {
    customHostnames: createCustomHostnames({
      ...{ store, clock, checks, issuer, vendorPrefix },
      own: createOwnCertificates({ clock, certificates }),
      limit: createIssuanceLimit({ store, clock, perMinuteMax: deps.hostnameIssuancesPerMinute ?? ISSUANCES_PER_MINUTE }),
      perZoneMax: deps.customHostnamesPerZoneMax ?? PER_ZONE_MAX,
    }),
    fallbackOrigins: createFallbackOrigins({ store, clock }),
    hostnameChecks: checks,
    zoneHolds: createZoneHolds({ store, clock }),
  };
}
