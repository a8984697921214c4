import { CUSTOM_CERTIFICATES_MAX } from "#model/certificates/custom-certificate.ts";
import { planObject, planOf } from "#model/zones/plan.ts";
import type { Zone } from "#model/zones/zone.ts";
import type { ZoneWithAccount } from "#store/zones/zones.ts";
import { chosenIn, developmentModeSeconds } from "#control/open-zone/setting-views.ts";

/** A zone's row as a response. Fields that only the vendor's service has are null, as clients expect (contract.md §9). */
export function zoneView(row: ZoneWithAccount, nowMs: number): Zone {
  return {
    id: row.id,
    name: row.name,
    status: row.status as Zone["status"],
    paused: row.paused === 1,
    type: row.type as Zone["type"],
    development_mode: developmentModeSeconds(chosenIn(row), nowMs),
    name_servers: JSON.parse(row.name_servers) as string[],
    original_name_servers: row.original_name_servers === null ? null : (JSON.parse(row.original_name_servers) as string[]),
    original_registrar: null,
    original_dnshost: null,
    modified_on: row.modified_on,
    created_on: row.created_on,
    activated_on: row.status === "pending" ? null : row.activated_on,
    ...(row.verification_key === "" ? {} : { verification_key: row.verification_key }),
    vanity_name_servers: JSON.parse(row.vanity_name_servers) as string[],
    meta: {
      step: 4,
      custom_certificate_quota: CUSTOM_CERTIFICATES_MAX,
      page_rule_quota: 0,
      phishing_detected: false,
      cdn_only: false,
      dns_only: false,
      foundation_dns: false,
    },
    owner: { id: null, type: "user", email: null },
    account: { id: row.account_id, name: row.account_name },
    tenant: { id: null, name: null },
    tenant_unit: { id: null },
    permissions: [],
    plan: planObject(planOf(row.plan)),
  };
}
