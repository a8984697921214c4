import { loadConfig } from "#app/config/config.ts";
import type { ApiClient } from "../api-client.ts";
import { configInput } from "../config-input.ts";
import { columns, EXIT, type ExitCode, print, printable } from "../outcome.ts";
import { allPages } from "../zone/all-pages.ts";
import { onlyAccount } from "../zone/only-account.ts";
import { type ApiOptions, explained, openZoneApi } from "../zone/zone-api.ts";

export interface GatewayOptions extends ApiOptions {
  readonly account?: string;
  readonly open?: boolean;
}

interface ListedGateway {
  readonly id: string;
  readonly authentication?: boolean;
  readonly collect_logs: boolean;
  readonly created_at: string;
}

const PER_PAGE = 50;
const HEAD = ["ID", "TOKEN", "LOGS", "CREATED"];
const cells = ({ id, authentication, collect_logs, created_at }: ListedGateway): readonly string[] => [
  ...[printable(id), authentication === true ? "required" : "not required", collect_logs ? "kept" : "not kept", created_at.slice(0, 10)],
];

export const gatewayList = (options: GatewayOptions, flags: readonly string[]): Promise<ExitCode> =>
  withGateways(options, flags, async (api, path, json) => {
    const gateways = await allPages<ListedGateway>(api, path, PER_PAGE);
    print(json, { gateways }, columns([HEAD, ...gateways.map(cells)]));
  });

export const gatewayAdd = (id: string, options: GatewayOptions, flags: readonly string[]): Promise<ExitCode> =>
  withGateways(options, flags, async (api, path, json) => {
    const unlimited = { rate_limiting_interval: 0, rate_limiting_limit: 0, cache_ttl: 0, cache_invalidate_on_update: false };
    const body = { id, ...unlimited, collect_logs: true, authentication: options.open !== true };
    const created = (await api.call("POST", path, body)) as ListedGateway;
    print(json, { created }, columns([HEAD, cells(created)]));
  });

export const gatewayDelete = (id: string, options: GatewayOptions, flags: readonly string[]): Promise<ExitCode> =>
  withGateways(options, flags, async (api, path, json) => {
    await api.call("DELETE", `${path}/${encodeURIComponent(id)}`);
    print(json, { deleted: id }, [`deleted ${printable(id)}`]);
  });

async function withGateways(
  options: GatewayOptions,
  flags: readonly string[],
  work: (api: ApiClient, path: string, json: boolean) => Promise<void>,
): Promise<ExitCode> {
  const { data, json } = loadConfig(configInput(flags));
  const api = openZoneApi(options, data);
  await explained("gateways", async () => {
    const account = options.account ?? (await onlyAccount(api));
    await work(api, `/accounts/${encodeURIComponent(account)}/ai-gateway/gateways`, json);
  });
  return EXIT.ok;
}
