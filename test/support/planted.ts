import { createLocalCa, createRoot } from "#acme/local-ca.ts";
import { systemActor, type Call } from "#control/call.ts";
import { openEventDatabase } from "#events/database/database.ts";
import { createLogIndexer } from "#events/logs/indexer.ts";
import { createLogJournal } from "#events/logs/journal.ts";
import type { LogTables } from "#events/logs/tables.ts";
import { logSegmentsOf } from "#events/logs/segment.ts";
import { systemClock } from "#kernel/clock.ts";
import { createMetrics } from "#kernel/process/metrics.ts";
import type { EventTable, EventTables, GatewayLogRow } from "#events/rows/rows.ts";
import { packed } from "#events/testing/rows.ts";
import { newId, newUlid } from "#kernel/crypto/ids.ts";
import { EVALUATION_TYPES } from "#model/gateways/gateway-dataset.ts";
import { OWNER_ROLE, ROLES } from "#model/access/membership.ts";
import { PERMISSION_GROUPS, type PermissionGroupName } from "#model/access/permission-groups.ts";
import { PROFILES } from "#rules/detectors/catalog/profiles.ts";
import type { TokenPolicyWrite } from "#model/access/token.ts";
import { insertAccount } from "#store/access/accounts.ts";
import { insertMembership } from "#store/access/memberships.ts";
import { insertImportJob } from "#store/dns/dns-import-jobs.ts";
import { insertLogpushJob } from "#store/events/logpush-jobs.ts";
import { insertUser } from "#store/access/users.ts";
import { destinationContext } from "#control/logpush/pusher.ts";
import { LOG_DATASET, type LogpushSettings } from "#model/events/logpush.ts";
import { createSealer } from "#kernel/crypto/seal.ts";
import { type ApiServer, ask } from "./api-server.ts";
import { plantImages } from "./planted-images.ts";
import { plantPasskey } from "./planted-passkey.ts";
import { plantPageShield } from "./planted-page-shield.ts";
import { plantFirewallTools } from "./planted-firewall-tools.ts";

/** One object of every kind that belongs to the first account, and a stranger with another account. */
export interface Planted {
  /** Path parameters of the first account's objects, by the route's path where a name has several meanings. */
  params(path: string): Readonly<Record<string, string | undefined>>;
  /** IDs and contents that no other tenant may ever read. */
  readonly secrets: readonly string[];
  /** May do everything, in its own account. */
  readonly strangerToken: string;
  readonly strangerAccountId: string;
  /** A token of the first user with `names` on the first account and its zones, and without permissions on the user. */
  tokenHolding(names: readonly PermissionGroupName[]): Promise<string>;
  /** A token of the first account itself, with every permission that an account token can have. */
  readonly accountToken: string;
}

export const PLANTED_PHASE = "http_request_firewall_custom";
const RULE = { action: "block", expression: 'http.host eq "planted.example"', description: "planted rule" };
const CUSTOM_NS = "ns1.planted.example";
const ROUTE_ELEMENTS = [
  { id: "start", type: "start", outputs: { next: { elementId: "model" } } },
  {
    id: "model",
    type: "model",
    properties: { provider: "openai", model: "planted-model", retries: 1, timeout: 1000 },
    outputs: { success: { elementId: "end" }, fallback: { elementId: "end" } },
  },
  { id: "end", type: "end", outputs: {} },
];
const TSIG_SECRET = Buffer.from("planted secret of a transfer").toString("base64");
const GATEWAY_ID = "planted-gateway";

const ABSENT = "0".repeat(32);

/** A job that is over; one that the API makes would bring thousands of records. */
async function plantImport({ store, account_id }: ApiServer, zone_id: string): Promise<string> {
  const row = {
    id: newId(),
    zone_id,
    account_id,
    status: "done",
    proxied: 0,
    actor: "{}",
    reason: null,
    error: null,
    on_error: "clamp",
    report: null,
  };
  const at = "2026-01-01T00:00:00.000000Z";
  const times = { created_on: at, touched_on: at, finished_on: at };
  await store.write(({ db }) => insertImportJob(db, { ...row, ...times, total: 2_001, records: 2_001, added: 0 }));
  return row.id;
}

export async function plant(server: ApiServer): Promise<Planted> {
  const made = async (method: string, path: string, body: object): Promise<any> => {
    const answer = await ask(server, method, path, { body });
    if (answer.status > 201) throw new Error(`${method} ${path}: ${answer.text}`);
    return answer.body.result;
  };
  const account = server.account_id;
  const zone = await made("POST", "/zones", { name: "planted.example", account: { id: account } });
  const record = await made("POST", `/zones/${zone.id}/dns_records`, { type: "A", name: "planted", content: "192.0.2.77", ttl: 300 });
  const importId = await plantImport(server, zone.id);
  await made("POST", `/zones/${zone.id}/dns_records`, { type: "A", name: "undone", content: "192.0.2.76" });
  const [version] = (await ask(server, "GET", `/zones/${zone.id}/dns_versions`)).body.result;
  const zoneRuleset = await made("POST", `/zones/${zone.id}/rulesets`, {
    name: "planted zone ruleset",
    kind: "zone",
    phase: PLANTED_PHASE,
    rules: [RULE],
  });
  const accountRuleset = await made("POST", `/accounts/${account}/rulesets`, {
    name: "planted account ruleset",
    kind: "root",
    phase: PLANTED_PHASE,
    rules: [RULE],
  });
  await made("POST", `/accounts/${account}/ai-gateway/gateways`, {
    id: GATEWAY_ID,
    cache_invalidate_on_update: false,
    cache_ttl: null,
    collect_logs: true,
    rate_limiting_interval: null,
    rate_limiting_limit: null,
  });
  const gateway = `/accounts/${account}/ai-gateway/gateways/${GATEWAY_ID}`;
  const dataset = await made("POST", `${gateway}/datasets`, { name: "planted dataset", enable: true, filters: [] });
  const evaluation = await made("POST", `${gateway}/evaluations`, {
    name: "planted evaluation",
    dataset_ids: [dataset.id],
    evaluation_type_ids: [EVALUATION_TYPES[0]?.id],
  });
  const kept = await plantForGateways(made, account);
  const appOf = async (owner: string, path: string): Promise<string> =>
    (await made("POST", `${owner}/access/apps`, { type: "self_hosted", name: "planted app", domain: `app.planted.example/${path}` })).id;
  const accountApp = await appOf(`/accounts/${account}`, "account");
  const zoneApp = await appOf(`/zones/${zone.id}`, "zone");
  const tools = await plantFirewallTools(made, zone.id, account);
  const { hostname } = await made("POST", `${gateway}/custom-domains`, { domain: "ai.planted.example", zone_id: zone.id });
  const ruleList = await made("POST", `/accounts/${account}/rules/lists`, {
    name: "planted_list",
    kind: "ip",
    description: "planted list",
  });
  const operation = await made("POST", `/accounts/${account}/rules/lists/${ruleList.id}/items`, [{ ip: "192.0.2.77" }]);
  await server.control.ruleListItems.idle();
  const [listItem] = (await ask(server, "GET", `/accounts/${account}/rules/lists/${ruleList.id}/items`)).body.result;
  const notifications = await plantNotifications(made, account);
  const pageRule = await made("POST", `/zones/${zone.id}/pagerules`, {
    targets: [{ target: "url", constraint: { operator: "matches", value: "planted.example/admin/*" } }],
    actions: [{ id: "disable_security" }],
  });
  const detection = await plantDetection(made, zone.id, account);
  const customHostname = await plantHostname(made, zone.id);
  const transfers = await plantTransfers(made, account, zone.id);
  await made("POST", `/accounts/${account}/custom_ns`, { ns_name: CUSTOM_NS });
  const events = plantEvents(server, account, zone.id);
  const userToken = await made("POST", "/user/tokens", { name: "planted user token", policies: everythingOf(account) });
  const accountToken = await made("POST", `/accounts/${account}/tokens`, {
    name: "planted account token",
    policies: everythingOf(account),
  });
  const session = await made("POST", "/user/sessions", { label: "planted browser" });
  const passkeyId = await plantPasskey(server);
  const [membership] = (await ask(server, "GET", "/memberships")).body.result;
  const logpushJob = await plantLogpush(server);
  const images = await plantImages(server);
  const tunnel = await plantTunnel(server, made);
  const pageShield = await plantPageShield(server, made, zone.id);
  const stranger = await plantStranger(server);
  const holders = new Map<string, Promise<string>>();
  const holder = async (names: readonly PermissionGroupName[]): Promise<string> => {
    const policies = [allow(`com.cloudflare.api.account.${account}`, (group) => names.includes(group.name))];
    return (await made("POST", "/user/tokens", { name: "holder", policies })).value;
  };
  return {
    params: (path) => {
      const atAccount = path.startsWith("/accounts/");
      const ruleset = atAccount ? accountRuleset : zoneRuleset;
      return {
        account_id: account,
        zone_id: zone.id,
        dns_record_id: record.id,
        import_id: importId,
        version: String(version.version),
        ruleset_id: ruleset.id,
        rule_id: ruleset.rules[0].id,
        ruleset_version: "1",
        rule_tag: "planted-tag",
        list_id: ruleList.id,
        item_id: listItem.id,
        operation_id: operation.operation_id,
        phase: PLANTED_PHASE,
        setting_id: "ssl",
        gateway_id: GATEWAY_ID,
        dataset_id: dataset.id,
        evaluation_id: evaluation.id,
        token_id: atAccount ? accountToken.id : userToken.id,
        membership_id: membership.id,
        session_id: session.id,
        passkey_id: passkeyId,
        custom_ns_id: CUSTOM_NS,
        zone_name: "planted.example",
        plan_id: "1ac039f6c29b691475c3d74fe588d1ae",
        ...customHostname,
        zone_pack_id: customHostname.custom_certificate_id,
        ...transfers,
        ...notifications,
        pagerule_id: pageRule.id,
        ...tools,
        access_rule_id: atAccount ? tools.account_access_rule_id : tools.access_rule_id,
        // A deleted object need not exist.
        filter_id: ABSENT,
        rate_limit_id: ABSENT,
        remaining_rule_id: ABSENT,
        package_id: ABSENT,
        group_id: ABSENT,
        override_id: ABSENT,
        member_id: ABSENT,
        invite_id: membership.id,
        organization_id: membership.account.id,
        accelerator_id: ABSENT,
        ...pageShield.ids,
        image_id: images.image_id,
        variant_id: "planted",
        signing_key_name: "planted",
        account_member_id: membership.id,
        account_role_id: ROLES[0].id,
        role_id: ABSENT,
        allowed_id: detection.allowed_id,
        pattern_id: atAccount ? detection.account_pattern_id : detection.pattern_id,
        ...kept.ids,
        profile_id: path.includes("/custom/") ? kept.ids.profile_id : (PROFILES[0]?.id ?? ""),
        hostname,
        app_id: atAccount ? accountApp : zoneApp,
        bookmark_id: accountApp,
        ...tunnel,
        provider: "openai",
        job_id: String(logpushJob),
        dataset_name: LOG_DATASET,
        ...(path.includes("/page_shield/") ? { policy_id: pageShield.policy_id } : {}),
        ...(path.includes("/logs/:id") ? { id: events.logId } : {}),
      };
    },
    secrets: [
      images.image_id,
      images.key,
      zone.id,
      record.id,
      "192.0.2.77",
      "planted",
      zoneRuleset.id,
      accountRuleset.id,
      userToken.id,
      accountToken.id,
      membership.id,
      session.id,
      passkeyId,
      ...Object.values(transfers),
      ...Object.values(customHostname),
      TSIG_SECRET,
      PROVIDER_SECRET,
      ...Object.values(kept.ids),
      ...Object.values(tunnel),
      ...Object.values(pageShield.ids),
      pageShield.policy_id,
      TUNNEL_SECRET,
      accountApp,
      zoneApp,
      server.user_id,
      dataset.id,
      evaluation.id,
      events.logId,
      events.eventId,
      String(logpushJob),
    ],
    strangerToken: stranger.token,
    strangerAccountId: stranger.accountId,
    tokenHolding: (names) => {
      const key = names.join();
      const token = holders.get(key) ?? holder(names);
      holders.set(key, token);
      return token;
    },
    accountToken: accountToken.value,
  };
}

const TUNNEL_SECRET = Buffer.from("planted secret of a tunnel, 32 bytes").toString("base64");

/** A tunnel with a connector that a thread has reported. */
async function plantTunnel({ control, account_id }: ApiServer, made: Made) {
  const { id } = await made("POST", `/accounts/${account_id}/cfd_tunnel`, { name: "planted tunnel", tunnel_secret: TUNNEL_SECRET });
  const connector_id = "5c1c1e0e-0000-4000-8000-000000000001";
  const at = "2026-01-01T00:00:00.000Z";
  const link = {
    id: "5c1c1e0e-0000-4000-8000-000000000002",
    tunnel_id: id,
    connector_id,
    version: "1.0.0",
    arch: "linux_x64",
    features: [],
  };
  await control.tunnels.report("planted", [
    { ...link, run_at: at, opened_at: at, address: "192.0.2.77", config_version: 0, draining: false },
  ]);
  return { tunnel_id: id as string, connector_id };
}

type Made = (method: string, path: string, body: object) => Promise<any>;

const PROVIDER_SECRET = "sk-planted-key-of-a-provider";

/** One of each gateway object of an account. */
async function plantForGateways(made: Made, account: string) {
  const gateways = `/accounts/${account}/ai-gateway`;
  const gateway = `${gateways}/gateways/${GATEWAY_ID}`;
  const config = await made("POST", `${gateway}/provider_configs`, {
    alias: "planted",
    default_config: true,
    provider_slug: "openai",
    secret: PROVIDER_SECRET,
  });
  const provider = await made("POST", `${gateways}/custom-providers`, {
    name: "planted provider",
    slug: "planted",
    base_url: "https://planted.example/v1",
    headers: JSON.stringify({ "x-key": PROVIDER_SECRET }),
  });
  const cost = await made("POST", `${gateways}/custom-providers/costs`, {
    account_provider_id: provider.id,
    model: "planted-model",
    cost_in: 0.001,
    token_pricing: { input_tokens: 0.002 },
  });
  const route = await made("POST", `${gateway}/routes`, { name: "planted", elements: ROUTE_ELEMENTS });
  const profile = await made("POST", `/accounts/${account}/dlp/profiles/custom`, {
    name: "planted profile",
    entries: [{ name: "planted entry", enabled: true, pattern: { regex: "PLT-[0-9]{6}" } }],
  });
  return {
    ids: {
      profile_id: profile.id as string,
      provider_config_id: config.id as string,
      custom_provider_id: provider.id as string,
      custom_cost_id: cost.id as string,
      route_id: route.id as string,
      version_id: route.version.version_id as string,
    },
  };
}

const NOBODY_LISTENS = "http://127.0.0.1:9/planted";

/** A webhook, a policy that uses it, and a time in which it is silent. */
async function plantNotifications(made: Made, account: string) {
  const alerting = `/accounts/${account}/alerting/v3`;
  const unused = await made("POST", `${alerting}/destinations/webhooks`, {
    name: "planted webhook",
    url: NOBODY_LISTENS,
    secret: "planted",
  });
  const used = await made("POST", `${alerting}/destinations/webhooks`, { name: "planted webhook in use", url: NOBODY_LISTENS });
  const policy = await made("POST", `${alerting}/policies`, {
    name: "planted policy",
    enabled: true,
    alert_type: "clickhouse_alert_fw_anomaly",
    mechanisms: { webhooks: [{ id: used.id }] },
  });
  const [silence] = await made("POST", `${alerting}/silences`, [
    { policy_id: policy.id, start_time: "2030-01-01T00:00:00Z", end_time: "2030-01-02T00:00:00Z" },
  ]);
  return {
    webhook_id: unused.id as string,
    webhook_in_use: used.id as string,
    policy_id: policy.id as string,
    silence_id: silence.id as string,
  };
}

/** A logpush job; no receiver accepts a test file. */
async function plantLogpush({ store, account_id }: ApiServer): Promise<number> {
  const id = 1_234_567_890;
  const settings: LogpushSettings = {
    name: "planted job",
    output_options: null,
    max_upload_bytes: null,
    max_upload_records: null,
    max_upload_interval_seconds: null,
    frequency: null,
  };
  const row = {
    id,
    account_id,
    dataset: LOG_DATASET,
    enabled: 1,
    destination: createSealer(Buffer.alloc(32, 7)).seal(`${NOBODY_LISTENS}?header_X=planted`, destinationContext(id)),
    settings: JSON.stringify(settings),
    since_ms: 0,
    last_complete: null,
    last_error: null,
    error_message: null,
  };
  await store.write(({ db }) => insertLogpushJob(db, row));
  return id;
}

const CUSTOM_HOSTNAME = "shop.planted.example";

/** A custom hostname with a certificate of its owner's, and one of the zone's owner. */
async function plantHostname(made: Made, zoneId: string) {
  await made("PUT", `/zones/${zoneId}/custom_hostnames/fallback_origin`, { origin: "planted.planted.example" });
  const ca = createLocalCa({ root: await createRoot(systemClock), clock: systemClock });
  const { chain, privateKey } = await ca.issue([CUSTOM_HOSTNAME]);
  const own = await ca.issue(["planted.example"]);
  const certificate = await made("POST", `/zones/${zoneId}/custom_certificates`, { certificate: own.chain, private_key: own.privateKey });
  const hostname = await made("POST", `/zones/${zoneId}/custom_hostnames`, {
    hostname: CUSTOM_HOSTNAME,
    ssl: { custom_certificate: chain, custom_key: privateKey },
  });
  return {
    custom_certificate_id: certificate.id as string,
    custom_hostname_id: hostname.id as string,
    certificate_pack_id: hostname.ssl.id as string,
    certificate_id: hostname.ssl.certificates[0].id as string,
  };
}

/** The settings of a zone and its account for sensitive data detection. */
async function plantDetection(made: Made, zoneId: string, account: string) {
  const allowed = await made("POST", `/zones/${zoneId}/sensitive_data/allowed`, { path: "/planted" });
  const own = { name: "planted pattern", pattern: "PLT-[0-9]{6}" };
  const pattern = await made("POST", `/zones/${zoneId}/sensitive_data/patterns`, own);
  const accountPattern = await made("POST", `/accounts/${account}/sensitive_data/patterns`, own);
  return { allowed_id: allowed.id as string, pattern_id: pattern.id as string, account_pattern_id: accountPattern.id as string };
}

/** One of each transfer object, and a configuration in each direction. */
async function plantTransfers(made: Made, account: string, zoneId: string): Promise<{ acl_id: string; tsig_id: string; peer_id: string }> {
  const objects = `/accounts/${account}/secondary_dns`;
  const acl = await made("POST", `${objects}/acls`, { name: "planted acl", ip_range: "192.0.2.77/32" });
  const tsig = await made("POST", `${objects}/tsigs`, { name: "planted-key.", algo: "hmac-sha256.", secret: TSIG_SECRET });
  const peer = await made("POST", `${objects}/peers`, { name: "planted peer", ip: "192.0.2.77", tsig_id: tsig.id });
  for (const direction of ["incoming", "outgoing"])
    await made("POST", `/zones/${zoneId}/secondary_dns/${direction}`, { name: "planted.example.", peers: [peer.id] });
  return { acl_id: acl.id, tsig_id: tsig.id, peer_id: peer.id };
}

type Group = (typeof PERMISSION_GROUPS)[number];

const allow = (resource: string, keep: (group: Group) => boolean): TokenPolicyWrite => ({
  effect: "allow",
  resources: { [resource]: "*" },
  permission_groups: PERMISSION_GROUPS.filter(keep).map(({ id }) => ({ id })),
});

const everythingOf = (accountId: string): TokenPolicyWrite[] => [
  allow(`com.cloudflare.api.account.${accountId}`, ({ scopes }) => !scopes.includes("com.cloudflare.api.user")),
];

/** Another user with another account: the API cannot create one yet, so the rows are inserted directly. */
async function plantStranger(server: ApiServer): Promise<{ token: string; accountId: string }> {
  const [accountId, userId] = [newId(), newId()];
  // Created later than the first user, who is the oldest.
  const on = "2099-01-01T00:00:00.000000Z";
  await server.store.write(async ({ db }) => {
    await insertAccount(db, {
      id: accountId,
      name: "stranger",
      type: "standard",
      settings: JSON.stringify({ enforce_twofactor: false, abuse_contact_email: null }),
      created_on: on,
    });
    await insertUser(db, {
      id: userId,
      email: "stranger@example.net",
      first_name: null,
      last_name: null,
      telephone: null,
      country: null,
      zipcode: null,
      api_key_hash: null,
      created_on: on,
      modified_on: on,
    });
    await insertMembership(db, {
      id: newId(),
      account_id: accountId,
      user_id: userId,
      roles: JSON.stringify([OWNER_ROLE]),
      status: "accepted",
      created_on: on,
    });
  });
  const call: Call = { actor: systemActor("test"), request_id: "test", rev: null };
  const policies = [
    allow("com.cloudflare.api.account.*", ({ scopes }) => scopes.includes("com.cloudflare.api.account")),
    allow("com.cloudflare.api.account.zone.*", ({ scopes }) => scopes.includes("com.cloudflare.api.account.zone")),
    allow(`com.cloudflare.api.user.${userId}`, ({ scopes }) => scopes.includes("com.cloudflare.api.user")),
  ];
  const { value } = await server.control.access.tokens.create(call, { user_id: userId }, { name: "stranger's token", policies });
  return { token: value, accountId };
}

/** With its bodies, as the gateway writes it. */
function plantLog(eventsPath: string, logs: LogTables, row: GatewayLogRow): void {
  const directory = logSegmentsOf(eventsPath);
  const journal = createLogJournal({ directory, metrics: createMetrics() });
  const keep = { mode: "STOP_INSERTING", rowsMax: null } as const;
  journal.append({ row, keep, request: Buffer.from("{}"), response: [Buffer.from("{}")] });
  journal.close();
  const indexer = createLogIndexer({ directory, logs, damaged: () => undefined });
  while (indexer.step());
  indexer.close();
}

function plantEvents(server: ApiServer, accountId: string, zoneId: string): { logId: string; eventId: string } {
  // Logs of before a gateway was made are not its own.
  const loggedMs = Date.parse("2100-01-01T00:00:00Z");
  const [logId, eventId] = [newUlid(loggedMs), newUlid(2)];
  const request = { ray_id: "0123456789abcdef", at_ms: 1, account_id: accountId, method: "GET", path: "/planted" };
  const database = openEventDatabase(server.eventsPath);
  const row = <T extends EventTable>(table: T, row: EventTables[T]) => packed(table, [row]);
  plantLog(server.eventsPath, database.logs, {
    id: logId,
    at_ms: loggedMs,
    account_id: accountId,
    gateway_id: GATEWAY_ID,
    provider: "openai",
    model: "planted-model",
    path: "chat/completions",
    method: "POST",
    status_code: 200,
    success: true,
    cached: false,
    duration_ms: 1,
    tokens_in: 1,
    tokens_out: 1,
    cost: 0,
    step: 0,
    request_content_type: "application/json",
    response_content_type: "application/json",
    request_bytes: 1,
    response_bytes: 1,
  });
  database.insert([
    row("security_events", {
      ...request,
      id: eventId,
      zone_id: zoneId,
      ruleset_id: newId(),
      rule_id: newId(),
      deployed_by: "",
      rule_description: "planted",
      phase: PLANTED_PHASE,
      action: "log",
      service: "WAF",
      client_ip: "192.0.2.77",
      scheme: "https",
      host: "planted.example",
      query: "",
      user_agent: "",
      status: 200,
      matches: [],
    } as unknown as EventTables["security_events"]),
  ]);
  database.close();
  return { logId, eventId };
}
