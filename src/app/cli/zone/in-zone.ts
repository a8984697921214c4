import { loadConfig } from "#app/config/config.ts";
import type { ApiClient } from "../api-client.ts";
import { configInput } from "../config-input.ts";
import { EXIT, type ExitCode } from "../outcome.ts";
import { type ApiOptions, explained, openZoneApi, plainZoneName, requireZone } from "./zone-api.ts";

/** A zone that a command works in. */
export interface ZonePlace {
  readonly api: ApiClient;
  /** `/zones/{zone_id}`. */
  readonly path: string;
  readonly name: string;
  readonly json: boolean;
}

/** Runs a command in a zone; refusals of the API name the zone. */
export async function inZone(
  zone: string,
  options: ApiOptions,
  flags: readonly string[],
  work: (place: ZonePlace) => Promise<void>,
): Promise<ExitCode> {
  const { data, json } = loadConfig(configInput(flags));
  const api = openZoneApi(options, data);
  const name = plainZoneName(zone);
  const path = `/zones/${await requireZone(api, name)}`;
  await explained(`zone ${name}`, () => work({ api, path, name, json }));
  return EXIT.ok;
}
