import { parseHostname } from "#kernel/net/hostname.ts";
import { isAlive, readRunFile } from "#app/operations/run-file.ts";
import { readAuthority } from "../authority.ts";
import { type ApiClient, ApiFailure, createApiClient } from "../api-client.ts";
import { CliError, complain, EXIT } from "../outcome.ts";

const AUTHORITY_VARIABLE = "SELVEDGE_API_CA";

/** The options of every command that uses the API. */
export interface ApiOptions {
  readonly api?: string;
  readonly token?: string;
  /** PEM file of the authority that issued the certificate of the API. */
  readonly ca?: string;
}

/** A client for the API that is named by the options, the environment or the running server of the data directory. */
export function openZoneApi(options: ApiOptions, dataDir: string, headers: Readonly<Record<string, string>> = {}): ApiClient {
  const token = options.token ?? process.env["SELVEDGE_TOKEN"];
  if (token === undefined || token === "") throw new CliError("an API token is required: set SELVEDGE_TOKEN or --token", EXIT.usage);
  const base = options.api ?? process.env["SELVEDGE_API"] ?? runningApi(dataDir);
  if (!URL.canParse(base)) throw new CliError(`--api is not a URL: ${base}`, EXIT.usage);
  return createApiClient({
    authority: authorityOf(options.ca),
    base,
    token,
    headers,
    onWait: (waitMs) => complain([`the API's rate limit is reached; continuing in ${Math.ceil(waitMs / 1000)} s`]),
  });
}

function authorityOf(given: string | undefined): string | undefined {
  const path = given ?? process.env[AUTHORITY_VARIABLE];
  if (path === undefined || path === "") return undefined;
  return readAuthority(given === undefined ? AUTHORITY_VARIABLE : "--ca", path);
}

function runningApi(dataDir: string): string {
  const run = readRunFile(dataDir);
  if (run === null || !isAlive(run.pid))
    throw new CliError(`no server runs on ${dataDir}; start one, or set the URL of another API with --api`, EXIT.notRunning);
  if (run.api === "")
    throw new CliError(`the server on ${dataDir} has no role control; set the URL of one that has with --api`, EXIT.notRunning);
  return run.api;
}

/** A zone's name in the form of the API. */
export const plainZoneName = (name: string): string => parseHostname(name, { underscores: true }) ?? name.replace(/\.$/, "").toLowerCase();

/** The identifier of the zone if the token may see it, otherwise undefined. */
export async function findZone(api: ApiClient, name: string): Promise<string | undefined> {
  const [found] = (await api.call("GET", `/zones?name=${encodeURIComponent(name)}`)) as readonly { id: string }[];
  return found?.id;
}

/** The code of `authentication_error`: the token is valid, but lacks the permission. */
const NO_PERMISSION = 10000;

/** No zone name has this form. */
const ZONE_ID = /^[0-9a-f]{32}$/;

/**
 * Like `findZone`, or the identifier itself, which is required for a token without Zone Read; throws CliError if it does
 * not exist.
 */
export const requireZone = async (api: ApiClient, name: string): Promise<string> =>
  explained(`zone ${name}`, async () => {
    if (ZONE_ID.test(name)) return name;
    const id = await findZone(api, name).catch((error: unknown) => {
      // The token may not be allowed to list zones.
      if (error instanceof ApiFailure && error.has(NO_PERMISSION)) return undefined;
      throw error;
    });
    if (id === undefined) throw new CliError(`this token cannot access a zone ${name}; without Zone Read, use the identifier of the zone`);
    return id;
  });

/** Too many requests, and a server that is busy, starting or behind a waiting proxy. */
const PASSING: ReadonlySet<number> = new Set([429, 502, 503, 504]);

/** Turns a refusal of the API into the command's error, with its subject. */
export async function explained<T>(about: string, work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    if (error instanceof ApiFailure) throw new CliError(`${about}: ${error.message}`, EXIT.failed, PASSING.has(error.status));
    throw error;
  }
}
