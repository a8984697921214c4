import type { Clock } from "#kernel/clock.ts";
import { createObjectStore, type ObjectStore } from "#wire/s3/object-store.ts";
import type { Config } from "./config.ts";

const NEEDED = ["endpoint", "bucket", "access_key_id", "secret_access_key"] as const;

/** The bucket of the configuration. Throws an Error that names the missing key. */
export function openObjectStore({ s3 }: Pick<Config, "s3">, clock: Clock, wantedBy: string): ObjectStore {
  const missing = NEEDED.find((key) => s3[key] === "");
  if (missing !== undefined) throw new Error(`${wantedBy} needs s3.${missing}`);
  const prefix = s3.prefix === "" || s3.prefix.endsWith("/") ? s3.prefix : `${s3.prefix}/`;
  return createObjectStore({ ...s3, prefix, endpoint: s3.endpoint.replace(/\/$/, "") }, clock);
}
