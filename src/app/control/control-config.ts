import { readRegularFile } from "#kernel/process/regular-file.ts";
import type { ApiConfig } from "#api/server.ts";
import type { ProviderConfig } from "#control/sign-in/provider.ts";
import { IMAGE_UPLOAD_LIMIT } from "#api/images/image-uploads.ts";
import type { OrderingConfig } from "#control/certificates/create.ts";
import type { MailServer } from "#control/notifications/delivery/send-email.ts";
import { createAddressPolicy } from "#kernel/net/address-policy.ts";
import type { HostGate } from "#kernel/net/host-gate.ts";
import { formatIp, type IpAddress, parseIp } from "#kernel/net/ip.ts";
import { areLoopback } from "#app/config/bind-safety.ts";
import { addressesOf } from "#app/config/listen-places.ts";
import type { Config } from "#app/config/config.ts";
import type { LiveConfig } from "#app/config/live-config.ts";
import { edgeAddresses, retentionOf, connectionLimits, trustedProxies } from "#app/planes/plane-configs.ts";
import { packageFolders } from "./package-folders.ts";
import { certificateNames, readRoots, readTls } from "#app/config/tls-files.ts";

/** The operator's configuration for use-cases. */
export const controlConfig = (config: Config) => ({
  edgeAddresses: edgeAddresses(config),
  eventRetention: retentionOf(config),
  areEventsShared: config.events.url !== "",
  auditRetention: { days: config.audit_log.retention_days, rowsMax: config.audit_log.rows_per_account_max },
  localOriginAllowed: originPolicy(config),
  vendorPrefix: config.vendor.prefix,
  // Edges of other machines have their own databases.
  hasPlaces: config.edge.geoip_databases.length > 0 || !config.roles.includes("edge"),
  hasGuardrailModel: config.gateway.guardrail_model !== "",
  nameServers: config.dns.name_servers,
  ownership: {
    activation: config.zones.activation,
    trustedAccounts: config.zones.trusted_accounts,
    zonesMax: config.zones.per_account_max,
    isPrivate: [config.dns.host, config.edge.host, config.gateway.host].every(areLoopback),
    ownNames: [...config.dns.name_servers, ...certifiedHosts(config)],
  },
  scanResolvers: config.dns.scan_resolvers.length > 0 ? config.dns.scan_resolvers : config.dns.resolvers,
  dnssecRolloverDays: config.dns.dnssec_rollover_days,
  records: { names: config.dns.names, txtContent: config.dns.txt_content },
  secondaryLimits: { memoryBytesMax: config.dns.transfer_memory_bytes_max },
  recordsPerZoneMax: config.dns.records_per_zone_max,
  recordsPerFreeZoneMax: config.dns.records_per_free_zone_max,
  rulesetLimits: {
    rulesMax: config.rules.per_ruleset_max,
    freeRulesMax: config.rules.per_free_ruleset_max,
    customRulesetsMax: config.rules.custom_rulesets_max,
    versionsKept: config.rules.versions_max,
    accountBytesMax: config.rules.account_bytes_max,
  },
  ruleListLimits: { listsMax: config.rules.lists_max, itemsMax: config.rules.list_items_max },
  customHostnamesPerZoneMax: config.custom_hostnames.per_zone_max,
  hostnameIssuancesPerMinute: config.custom_hostnames.issuances_per_minute,
  ordering: ordering(config),
  mailServer: mailServer(config),
  dashboardUrl: config.api.dashboard_url,
  signInProvider: signInProvider(config),
});

/** Credentials that the first start sets on request. */
export const presets = ({ bootstrap: { token, api_key } }: Config): { token?: string; apiKey?: string } => ({
  ...(token === "" ? {} : { token }),
  ...(api_key === "" ? {} : { apiKey: api_key }),
});

/** A record has no port; the edge checks again with the port that it connects to. */
const NO_PORT = 0;

/** The API, when a record is written, gives the same answer as the edge, when it connects to the origin. */
function originPolicy(config: Config): (address: IpAddress) => boolean {
  const allowed = createAddressPolicy(addressesOf(config.edge.host), config.edge.origin_allow, undefined);
  return (address) => allowed(formatIp(address), NO_PORT);
}

/** Names of the API and the gateways; a wildcard counts as its parent name. */
const certifiedHosts = ({ tls }: Config): readonly string[] =>
  certificateNames(readTls(tls)).flatMap((name) => (parseIp(name) === undefined ? [name.replace(/^\*\./, "")] : []));

/** Sources of certificates. Throws an Error that names the key if the file of roots cannot be read. */
const ordering = ({ certificates }: Config): OrderingConfig => ({
  hostnames: certificates.authorities,
  zones: certificates.zone_authorities,
  acme: {
    directories: certificates.directories,
    bindings: certificates.bindings,
    email: certificates.email,
    roots: certificates.roots === "" ? "" : readRoots(certificates.roots),
  },
});

/** Undefined if either half is missing. */
const mailServer = ({ notifications: { smtp_host: host, email_from: from, ...rest } }: Config): MailServer | undefined =>
  host === "" || from === "" ? undefined : { host, from, port: rest.smtp_port, username: rest.smtp_username, password: rest.smtp_password };

function signInProvider({ api, sign_in }: Config): ProviderConfig | undefined {
  if (sign_in.oidc_issuer === "") return undefined;
  const { oidc_client_secret: secret, oidc_client_secret_file: file } = sign_in;
  return {
    issuer: sign_in.oidc_issuer,
    clientId: sign_in.oidc_client_id,
    clientSecret: () => (file === "" ? secret : readRegularFile(file).toString().trim()),
    emailDomains: sign_in.oidc_email_domains,
    name: sign_in.oidc_name,
    redirectUri: `${api.dashboard_url}/client/v4/sign_in/provider/callback`,
  };
}

/** If a key can change at runtime, its value is read at each use. */
export function apiConfig(live: LiveConfig, allowsHost: HostGate): ApiConfig {
  const { api, vendor, dns } = live.current();
  const date = {
    get asOf() {
      return live.current().deprecations.as_of || null;
    },
    get negotiate() {
      return live.current().deprecations.negotiate;
    },
    get unsafePins() {
      return live.current().deprecations.unsafe_pins;
    },
  };
  const rateLimit = {
    get requests() {
      return live.current().api.rate_limit_requests;
    },
    get periodSeconds() {
      return live.current().api.rate_limit_period_seconds;
    },
  };
  const importRateLimit = {
    get requests() {
      return live.current().dns.import_requests_per_minute;
    },
    periodSeconds: 60,
  };
  const { dashboard, docs } = packageFolders();
  return {
    vendorPrefix: vendor.prefix,
    trustedProxies: trustedProxies(api),
    connections: connectionLimits(api),
    ...{ date, rateLimit, allowsHost },
    hasOpenApi: () => live.current().api.openapi,
    recordsCalls: () => live.current().deprecations.record,
    limits: { dns_import: { bodyBytesMax: dns.import_bytes_max, rateLimit: importRateLimit }, image_upload: IMAGE_UPLOAD_LIMIT },
    ...(dashboard === undefined ? {} : { dashboard }),
    ...(docs === undefined ? {} : { docs }),
    ...live.tls(),
  };
}
