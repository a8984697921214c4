import { loadConfig } from "#app/config/config.ts";
import { configInput } from "../config-input.ts";
import { columns, EXIT, type ExitCode, print, printable } from "../outcome.ts";
import { onlyAccount } from "./only-account.ts";
import { type ApiOptions, explained, openZoneApi, plainZoneName, requireZone } from "./zone-api.ts";

export interface ZoneAddOptions extends ApiOptions {
  readonly account?: string;
}

interface CreatedZone {
  readonly id: string;
  readonly name: string;
  readonly status: string;
  readonly name_servers: readonly string[];
}

/** Creates a zone without records, and prints the name servers to delegate it to. */
export async function zoneAdd(name: string, options: ZoneAddOptions, flags: readonly string[]): Promise<ExitCode> {
  const { data, json } = loadConfig(configInput(flags));
  const api = openZoneApi(options, data);
  const created = await explained(`zone ${name}`, async () => {
    const account = { id: options.account ?? (await onlyAccount(api)) };
    return (await api.call("POST", "/zones", { name: plainZoneName(name), account, type: "full" })) as CreatedZone;
  });
  const { id, status, name_servers } = created;
  const rows = [
    ["ID", "NAME", "STATUS", "NAME SERVERS"],
    [id, created.name, status, name_servers.map(printable).join(", ")],
  ];
  print(json, { created }, columns(rows));
  return EXIT.ok;
}

/** Deletes a zone with everything in it. */
export async function zoneDelete(name: string, options: ApiOptions, flags: readonly string[]): Promise<ExitCode> {
  const { data, json } = loadConfig(configInput(flags));
  const api = openZoneApi(options, data);
  const id = await requireZone(api, plainZoneName(name));
  await explained(`zone ${name}`, () => api.call("DELETE", `/zones/${id}`));
  print(json, { deleted: { id, name: plainZoneName(name) } }, [`deleted ${printable(name)}`]);
  return EXIT.ok;
}
