import { loadConfig } from "#app/config/config.ts";
import { configInput } from "../config-input.ts";
import { EXIT, type ExitCode, print } from "../outcome.ts";
import { type ApiOptions, explained, openZoneApi, plainZoneName, requireZone } from "./zone-api.ts";

/** Prints the zone as a zone file, which zone import accepts. */
export async function zoneExport(zone: string, options: ApiOptions, flags: readonly string[]): Promise<ExitCode> {
  const { data, json } = loadConfig(configInput(flags));
  const api = openZoneApi(options, data);
  const name = plainZoneName(zone);
  const path = `/zones/${await requireZone(api, name)}/dns_records/export`;
  const file = await explained(`zone ${name}`, () => api.download(path));
  print(json, { zone: name, file }, [file.replace(/\n$/, "")]);
  return EXIT.ok;
}
