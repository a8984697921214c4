import { type AuthoritiesConfig, createAuthorities } from "#acme/accounts.ts";
import type { LocalCa } from "#acme/local-ca.ts";
import type { ResolverAddress } from "#control/dns/scan/query-resolver.ts";
import type { HostnameDns } from "./hostname-dns.ts";
import type { Clock } from "#kernel/clock.ts";
import type { Sealer } from "#kernel/crypto/seal.ts";
import type { Store } from "#store/database/store.ts";
import { createAccountStore } from "./account-store.ts";
import { createChooseAuthority, type IssuerName } from "./choose-authority.ts";
import { createLookUpCaa } from "./look-up-caa.ts";
import { type CertificateOrders, createCertificateOrders } from "./orders.ts";
import { createHostingZoneOf } from "./hosting-zone.ts";
import type { OrderOwners } from "./owner.ts";
import { type CertificateRenewals, createCertificateRenewals } from "./renewals.ts";
import { createPackOwner } from "./pack-owner.ts";
import { createOrderSteps } from "./order-steps.ts";
import { createZoneOwner } from "./zone-owner.ts";

/** The operator's configuration. */
export interface OrderingConfig {
  /** In order of preference. */
  readonly hostnames: readonly IssuerName[];
  readonly zones: readonly IssuerName[];
  /** Time of an attempt, for tests. */
  readonly attemptMsMax?: number;
  readonly acme: Pick<AuthoritiesConfig, "directories" | "bindings" | "email" | "roots">;
}

export const LOCAL_ORDERING: OrderingConfig = {
  hostnames: ["local"],
  zones: ["local"],
  acme: { directories: {}, bindings: {}, email: "", roots: "" },
};

export interface CertificateOrdering extends CertificateRenewals {
  readonly orders: CertificateOrders;
  close(): Promise<void>;
}

const REQUEST_MS_MAX = 30_000;
/** Maximum time that an authority may take to check a challenge before the order is postponed. */
const POLL_MS_MAX = 60_000;

export function createCertificateOrdering(deps: {
  readonly store: Store;
  readonly clock: Clock;
  readonly sealer: Sealer;
  readonly ca: LocalCa | null;
  readonly resolvers: readonly ResolverAddress[];
  readonly config: OrderingConfig;
  readonly hostnames: OrderOwners["custom_hostname"];
  readonly dns: HostnameDns;
  onError(error: unknown): void;
}): CertificateOrdering {
  const { store, clock, config, onError } = deps;
  const authorities = createAuthorities({
    accounts: createAccountStore(deps),
    clock,
    config: { ...config.acme, timeoutMs: REQUEST_MS_MAX, pollTimeoutMs: POLL_MS_MAX },
  });
  const workOn = createOrderSteps({
    ...{ store, clock, sealer: deps.sealer, ca: deps.ca, authorities },
    choose: createChooseAuthority({ authorities, lookUpCaa: createLookUpCaa(deps) }),
    owners: { zone: createZoneOwner(deps), custom_hostname: deps.hostnames, certificate_pack: createPackOwner(deps) },
    preference: { zone: config.zones, custom_hostname: config.hostnames, certificate_pack: config.zones },
    hostingPlacementOf: createHostingZoneOf(deps),
    attemptMsMax: config.attemptMsMax,
  });
  const [hostname = "", zone = ""] = [config.hostnames[0], config.zones[0]];
  const preferred = { custom_hostname: hostname, zone, certificate_pack: zone };
  const orders = createCertificateOrders({ store, clock, workOn, preferred, onError });
  const renewals = createCertificateRenewals({ store, clock, orders, authorities, zonePreference: config.zones });
  return {
    ...renewals,
    orders,
    close: async () => {
      await orders.close();
      await authorities.close();
    },
  };
}
