import type { Access } from "#control/access/access.ts";
import type { DeprecationCalls } from "#control/deprecation-calls.ts";
import type { RecordScans } from "#control/dns/record-scans.ts";
import type { DnsAnalytics } from "#control/analytics/dns-analytics.ts";
import type { DnsRecords } from "#control/dns/records.ts";
import type { CustomNameServers } from "#control/dns/custom-name-servers.ts";
import type { DnssecControl } from "#control/dns/dnssec.ts";
import type { DnssecWatch } from "#control/dns/dnssec-watch.ts";
import type { DnsSettings } from "#control/dns/settings.ts";
import type { DnsVersions } from "#control/dns/versions.ts";
import type { ZoneFiles } from "#control/dns/zone-files.ts";
import type { SecurityEvents } from "#control/events/security-events.ts";
import type { Gateways } from "#control/gateways/gateways.ts";
import type { GatewayLogs } from "#control/gateways/logs.ts";
import type { ApexAddresses } from "#control/dns/apex-addresses.ts";
import type { Rulesets } from "#control/rulesets/rulesets.ts";
import type { CertificateRenewal } from "#control/zones/renew-certificates.ts";
import type { ServiceCertificate } from "#control/service-certificate.ts";
import type { Secondaries } from "#control/secondary/secondaries.ts";
import type { Transfers } from "#control/transfers/transfers.ts";
import type { ZoneSettings } from "#control/zones/settings.ts";
import type { Zones } from "#control/zones/zones.ts";

/** Every use-case, by the resource it works on. Made by `createControl` (control/create.ts). */
export interface Control {
  readonly access: Access;
  readonly deprecationCalls: DeprecationCalls;
  readonly zones: Zones;
  readonly zoneSettings: ZoneSettings;
  readonly certificates: CertificateRenewal;
  readonly serviceCertificate: ServiceCertificate;
  readonly dnsRecords: DnsRecords;
  readonly dnsVersions: DnsVersions;
  readonly recordScans: RecordScans;
  readonly zoneFiles: ZoneFiles;
  readonly dnsSettings: DnsSettings;
  readonly apexAddresses: ApexAddresses;
  readonly dnssec: DnssecControl;
  readonly dnssecWatch: DnssecWatch;
  readonly customNameServers: CustomNameServers;
  readonly transfers: Transfers;
  readonly secondaries: Secondaries;
  readonly rulesets: Rulesets;
  readonly dnsAnalytics: DnsAnalytics;
  readonly gateways: Gateways;
  readonly gatewayLogs: GatewayLogs;
  readonly securityEvents: SecurityEvents;
}
