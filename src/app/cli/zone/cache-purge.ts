import { loadConfig } from "#app/config/config.ts";
import { configInput } from "../config-input.ts";
import { CliError, EXIT, type ExitCode, print } from "../outcome.ts";
import { type ApiOptions, explained, openZoneApi, plainZoneName, requireZone } from "./zone-api.ts";

export interface PurgeOptions extends ApiOptions {
  readonly everything?: boolean;
  readonly host?: readonly string[];
  readonly tag?: readonly string[];
  readonly prefix?: readonly string[];
}

/** Removes responses from the cache, by one of the ways that the API has. */
export async function cachePurge(
  zone: string,
  urls: readonly string[],
  options: PurgeOptions,
  flags: readonly string[],
): Promise<ExitCode> {
  const { everything, host, tag, prefix } = options;
  const ways = {
    ...(everything === true && { purge_everything: true }),
    ...(urls.length > 0 && { files: urls }),
    ...(host !== undefined && { hosts: host }),
    ...(tag !== undefined && { tags: tag }),
    ...(prefix !== undefined && { prefixes: prefix }),
  };
  if (Object.keys(ways).length !== 1) throw new CliError("choose one: addresses, --everything, --host, --tag or --prefix", EXIT.usage);
  const { data, json } = loadConfig(configInput(flags));
  const api = openZoneApi(options, data);
  const name = plainZoneName(zone);
  const id = await requireZone(api, name);
  await explained(`zone ${name}`, () => api.call("POST", `/zones/${id}/purge_cache`, ways));
  print(json, { zone: name, purged: ways }, [`purged ${everything === true ? "everything" : Object.values(ways).flat().join(", ")}`]);
  return EXIT.ok;
}
