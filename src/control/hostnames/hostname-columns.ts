import { randomUUID } from "node:crypto";
import { PlatformError } from "#kernel/errors/errors.ts";
import type { CustomHostnameEdit, HostnameSsl, SslSettings } from "#model/hostnames/custom-hostname.ts";
import type { CustomHostnameRow } from "#store/hostnames/custom-hostnames.ts";
import type { Unit } from "#store/database/store.ts";
import { isProxiedName } from "./fallback-origins.ts";
import { readMetadata, readSsl, type SslInput } from "./hostname-input.ts";
import { checkedName, NAME_ERRORS } from "./hostname-names.ts";

/** The SNI for connections to the origin is the visitor's host name. */
const SNI_OF_HOST = ":request_host_header:";

type Columns = Partial<
  Pick<
    CustomHostnameRow,
    | "custom_metadata"
    | "custom_origin_server"
    | "custom_origin_sni"
    | "wildcard"
    | "ssl_status"
    | "ssl_method"
    | "certificate_authority"
    | "caa_error"
    | "ssl"
    | "ssl_due_ms"
    | "ssl_tries"
  >
>;

/** The validated columns of a write, and the uploaded certificate, which is not parsed yet. */
export async function hostnameColumns(
  db: Unit["db"],
  zone: { readonly id: string; readonly name: string },
  body: CustomHostnameEdit,
  row: CustomHostnameRow,
): Promise<{ readonly columns: Columns; readonly custom: SslInput["custom"] }> {
  const input = body.ssl ? readSsl(body.ssl) : undefined;
  const columns: Columns = {
    ...(body.custom_metadata === undefined ? {} : { custom_metadata: readMetadata(body.custom_metadata) }),
    ...(body.custom_origin_server === undefined ? {} : { custom_origin_server: await readOrigin(db, zone, body.custom_origin_server) }),
    ...(body.custom_origin_sni === undefined ? {} : { custom_origin_sni: readSni(body.custom_origin_sni) }),
    ...(input === undefined ? {} : sslColumns(input, row)),
  };
  const after = { ...row, ...columns };
  if (after.wildcard === 1 && after.custom_metadata !== null)
    throw new PlatformError("hostname_wildcard_metadata", { source: "/custom_metadata" });
  if (after.wildcard === 1 && input?.custom !== undefined)
    throw new PlatformError("hostname_wildcard_certificate", { source: "/ssl/wildcard" });
  return { columns, custom: input?.custom };
}

async function readOrigin(db: Unit["db"], zone: { readonly id: string }, value: unknown): Promise<string | null> {
  if (value === null || value === "") return null;
  const origin = checkedName(value, NAME_ERRORS.origin);
  if (!(await isProxiedName(db, zone.id, origin)))
    throw new PlatformError("hostname_origin_not_in_zone", { source: "/custom_origin_server" });
  return origin;
}

const readSni = (value: unknown): string | null =>
  value === null || value === ""
    ? null
    : value === SNI_OF_HOST
      ? SNI_OF_HOST
      : checkedName(value, NAME_ERRORS.origin, "/custom_origin_sni");

/**
 * Whether the requested certificate equals the current one: clients send the whole `ssl` object to change one setting,
 * and authorities limit issuance.
 */
function isInUse(input: SslInput, row: CustomHostnameRow, before: HostnameSsl | undefined): boolean {
  if (row.ssl === null || input.custom !== undefined) return false;
  const { method = row.ssl_method, certificate_authority: authority = row.certificate_authority, wildcard = row.wildcard === 1 } = input;
  if (Object.keys(input).every((name) => name === "settings")) return true;
  const isSame = method === row.ssl_method && authority === row.certificate_authority && wildcard === (row.wildcard === 1);
  return isSame && row.ssl_status === "active" && before?.custom_certificate === undefined;
}

/** Every other change of certificate fields restarts issuance. */
function sslColumns(input: SslInput, row: CustomHostnameRow): Columns {
  const before = row.ssl === null ? undefined : (JSON.parse(row.ssl) as HostnameSsl);
  const ssl: HostnameSsl = {
    id: before?.id ?? randomUUID(),
    type: "dv",
    bundle_method: (input.bundle_method ?? before?.bundle_method ?? "ubiquitous") as HostnameSsl["bundle_method"],
    settings: { ...before?.settings, ...input.settings } satisfies SslSettings,
    ...shownUntilReplaced(before),
  };
  if (isInUse(input, row, before)) return { ssl: JSON.stringify({ ...before, settings: ssl.settings, bundle_method: ssl.bundle_method }) };
  return {
    ssl: JSON.stringify(ssl),
    ssl_status: "initializing",
    ssl_method: input.method ?? row.ssl_method ?? "http",
    certificate_authority: input.certificate_authority ?? row.certificate_authority,
    wildcard: (input.wildcard ?? row.wildcard === 1) ? 1 : 0,
    caa_error: 0,
    ssl_due_ms: null,
    ssl_tries: 0,
  };
}

/** The current certificate stays in use until it is replaced. */
function shownUntilReplaced(before: HostnameSsl | undefined): Partial<HostnameSsl> {
  if (before === undefined) return {};
  const { hosts, issuer, serial_number, signature, uploaded_on, expires_on, certificates, custom_certificate } = before;
  return { hosts, issuer, serial_number, signature, uploaded_on, expires_on, certificates, custom_certificate } as Partial<HostnameSsl>;
}
