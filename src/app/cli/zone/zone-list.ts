import { loadConfig } from "#app/config/config.ts";
import { configInput } from "../config-input.ts";
import { columns, EXIT, type ExitCode, print, printable } from "../outcome.ts";
import { allPages } from "./all-pages.ts";
import { type ApiOptions, explained, openZoneApi } from "./zone-api.ts";

interface ListedZone {
  readonly id: string;
  readonly name: string;
  readonly status: string;
  readonly type: string;
  readonly account: { readonly name: string };
}

const PER_PAGE = 50;

/** Prints the zones that the token can access. */
export async function zoneList(options: ApiOptions, flags: readonly string[]): Promise<ExitCode> {
  const { data, json } = loadConfig(configInput(flags));
  const api = openZoneApi(options, data);
  const zones = await explained("zones", () => allPages<ListedZone>(api, "/zones", PER_PAGE));
  const rows = zones.map(({ id, name, status, type, account }) => [id, name, status, type, printable(account.name)]);
  print(json, { zones }, columns([["ID", "NAME", "STATUS", "TYPE", "ACCOUNT"], ...rows]));
  return EXIT.ok;
}
