import { randomInt } from "node:crypto";
import type { Authorities } from "#acme/accounts.ts";
import { type AuthorityName, authorityNamed } from "#acme/authorities.ts";
import type { Clock } from "#kernel/clock.ts";
import {
  type CertificateRenewalRow,
  dueRenewals,
  orderFromRow,
  renewalOf,
  renewalsToAdvise,
  updateRenewal,
  zonesWithoutCertificateOf,
} from "#store/certificates/certificate-orders.ts";
import type { Store, Unit } from "#store/database/store.ts";
import type { IssuerName } from "./choose-authority.ts";
import type { CertificateOrders } from "./orders.ts";
import { zoneHosts } from "./zone-hosts.ts";

/** Scheduled work on issued certificates. */
export interface CertificateRenewals {
  /** Orders the certificates that are due for renewal; returns their number. */
  renewDue(limit: number): Promise<number>;
  /** Asks authorities for renewal times (RFC 9773); returns the number of certificates. */
  takeAdvice(limit: number, signal: AbortSignal): Promise<number>;
  /** Orders a new zone's certificate, if an external authority should issue it; `orders.wake` starts the work. */
  orderForZone(unit: Unit, zone: { readonly id: string; readonly name: string; readonly type: string }): Promise<void>;
  /** Orders certificates for zones without one of the configured authorities. */
  orderForZones(limit: number): Promise<number>;
}

const DAY_MS = 86_400_000;
const ADVICE_EVERY_MS = 6 * 3_600_000;
const NO_ADVICE_MS = 30 * DAY_MS;

export function createCertificateRenewals(deps: {
  readonly store: Store;
  readonly clock: Clock;
  readonly orders: CertificateOrders;
  readonly authorities: Authorities;
  readonly zonePreference: readonly IssuerName[];
}): CertificateRenewals {
  const { store, clock, orders } = deps;

  const names = deps.zonePreference[0] === "local" ? [] : deps.zonePreference.filter((name) => name !== "local");
  const orderForZone = async (unit: Unit, { id, name, type }: { id: string; name: string; type: string }): Promise<void> => {
    const hosts = zoneHosts(name);
    if (names.length === 0 || type !== "full" || hosts.length === 0) return;
    await orders.request(unit, { owner_kind: "zone", owner_id: id, zone_id: id, hosts, method: "txt", requested: "" });
  };

  const renew = async (due: CertificateRenewalRow): Promise<boolean> => {
    const { result } = await store.write(async (unit) => {
      const row = await renewalOf(unit.db, due);
      if (row === undefined || row.renew_ms > clock.nowMs()) return false;
      // An order has its own retries; this one is for orders that were given up.
      await updateRenewal(unit.db, row, { renew_ms: clock.nowMs() + DAY_MS });
      if ((await orderFromRow(unit.db, row)) !== undefined) return false;
      const { owner_kind, owner_id, zone_id, method, requested, renewal_id: replaces } = row;
      await orders.request(unit, { owner_kind, owner_id, zone_id, method, requested, replaces, hosts: JSON.parse(row.hosts) as string[] });
      return true;
    });
    return result;
  };

  const advised = async (row: CertificateRenewalRow, failed: Set<string>, signal: AbortSignal): Promise<Partial<CertificateRenewalRow>> => {
    const nowMs = clock.nowMs();
    if (failed.has(row.authority) || signal.aborted) return { advice_ms: nowMs + ADVICE_EVERY_MS };
    if (row.renewal_id === null || authorityNamed(row.authority) === undefined) return { advice_ms: nowMs + NO_ADVICE_MS };
    try {
      const { client } = await deps.authorities.open(row.authority as AuthorityName, signal);
      const window = await client.renewalInfo(row.renewal_id, signal);
      if (window === null) return { advice_ms: nowMs + NO_ADVICE_MS };
      // RFC 9773 §4.2: a random moment in the window, to spread the load; immediately if the window is over.
      const length = Math.min(window.endMs - window.startMs, 2 ** 47);
      const advice = window.startMs + (length > 0 ? randomInt(length) : 0);
      return { renew_ms: Math.min(advice, row.latest_ms ?? row.renew_ms), advice_ms: nowMs + ADVICE_EVERY_MS };
    } catch {
      if (!signal.aborted) failed.add(row.authority);
      return { advice_ms: nowMs + ADVICE_EVERY_MS };
    }
  };

  return {
    renewDue: async (limit) => {
      let renewed = 0;
      for (const row of await dueRenewals(store.read, clock.nowMs(), limit)) if (await renew(row)) renewed++;
      if (renewed > 0) orders.wake();
      return renewed;
    },
    takeAdvice: async (limit, signal) => {
      const rows = await renewalsToAdvise(store.read, clock.nowMs(), limit);
      // An authority that fails is asked no more in this run; those whose turn it was wait as if it had answered.
      const failed = new Set<string>();
      for (const row of rows) {
        const values = await advised(row, failed, signal);
        await store.write(async ({ db }) => {
          const now = await renewalOf(db, row);
          if (now?.renewal_id === row.renewal_id) await updateRenewal(db, row, values);
        });
      }
      return rows.length;
    },
    orderForZone,
    orderForZones: async (limit) => {
      if (names.length === 0) return 0;
      const zones = await zonesWithoutCertificateOf(store.read, names, limit);
      for (const zone of zones) await store.write((unit) => orderForZone(unit, { ...zone, type: "full" }));
      if (zones.length > 0) orders.wake();
      return zones.length;
    },
  };
}
