import type { DnssecRollover } from "#model/dns/dnssec.ts";
import { loadConfig } from "#app/config/config.ts";
import { configInput } from "../config-input.ts";
import { EXIT, type ExitCode, print } from "../outcome.ts";
import { type ApiOptions, explained, openZoneApi, plainZoneName, requireZone } from "./zone-api.ts";

export interface ZoneRollKeyOptions extends ApiOptions {
  readonly status?: boolean;
}

/** Starts the replacement of a signed zone's key, and prints its progress. */
export async function zoneRollKey(zone: string, options: ZoneRollKeyOptions, flags: readonly string[]): Promise<ExitCode> {
  const { data, json } = loadConfig(configInput(flags));
  const api = openZoneApi(options, data);
  const name = plainZoneName(zone);
  const path = `/zones/${await requireZone(api, name)}/dnssec/rollover`;
  const rollover = (await explained(`zone ${name}`, () => api.call(options.status === true ? "GET" : "POST", path))) as DnssecRollover;
  const { stage, since, keys, parent } = rollover;
  print(json, { zone: name, rollover }, [
    `${name}: ${STAGES[stage]}${stage === "none" || since === null ? "" : `, since ${since}`}`,
    ...keys.map(
      (key) => `  key ${key.key_tag} ${key.role}${parent.key_tags.includes(key.key_tag) ? ", named by the parent" : ""}: ${key.ds}`,
    ),
    ...(parent.failure === null ? [] : [`  the parent could not be queried: ${parent.failure}`]),
  ]);
  return EXIT.ok;
}

const STAGES: Readonly<Record<DnssecRollover["stage"], string>> = {
  none: "no rollover is in progress",
  publish: "the new key is being published",
  submit: "waiting for the parent to publish the DS record of the new key",
  retire: "the new key signs; the old key stays until caches no longer need it",
};
