import { ApiFailure } from "../api-client.ts";
import { CliError, columns, EXIT, type ExitCode, print, printable } from "../outcome.ts";
import { allPages } from "./all-pages.ts";
import { inZone } from "./in-zone.ts";
import type { ApiOptions } from "./zone-api.ts";

/** The options that set fields of a record. */
export interface RecordFields {
  readonly name?: string;
  readonly content?: string;
  readonly ttl?: string;
  readonly priority?: string;
  readonly proxied?: string;
  readonly comment?: string;
}

interface ListedRecord {
  readonly id: string;
  readonly type: string;
  readonly name: string;
  readonly content: string;
  readonly ttl: number;
  readonly priority?: number;
  readonly proxied?: boolean;
}

const PER_PAGE = 1000;
const HEAD = ["ID", "NAME", "TYPE", "TTL", "PROXIED", "CONTENT"];
const AUTOMATIC_TTL = 1;

export const recordList = (zone: string, options: ApiOptions, flags: readonly string[]): Promise<ExitCode> =>
  inZone(zone, options, flags, async ({ api, path, json, name }) => {
    const records = await allPages<ListedRecord>(api, `${path}/dns_records`, PER_PAGE);
    print(json, { zone: name, records }, columns([HEAD, ...records.map(cells)]));
  });

export const recordAdd = (
  zone: string,
  record: { readonly type: string; readonly name: string; readonly content: string },
  options: ApiOptions & RecordFields,
  flags: readonly string[],
): Promise<ExitCode> => {
  const body = { ttl: AUTOMATIC_TTL, ...fieldsOf(options), ...record, type: record.type.toUpperCase() };
  return inZone(zone, options, flags, async ({ api, path, json, name }) => {
    const created = await written(api.call("POST", `${path}/dns_records`, body));
    print(json, { zone: name, created }, columns([HEAD, cells(created)]));
  });
};

export const recordEdit = (zone: string, id: string, options: ApiOptions & RecordFields, flags: readonly string[]): Promise<ExitCode> => {
  checkId(zone, id);
  const body = fieldsOf(options);
  if (Object.keys(body).length === 0) throw new CliError("set a field to change, such as --content", EXIT.usage);
  return inZone(zone, options, flags, async ({ api, path, json, name }) => {
    const updated = await written(api.call("PATCH", `${path}/dns_records/${encodeURIComponent(id)}`, body));
    print(json, { zone: name, updated }, columns([HEAD, cells(updated)]));
  });
};

export const recordDelete = (zone: string, id: string, options: ApiOptions, flags: readonly string[]): Promise<ExitCode> => {
  checkId(zone, id);
  return inZone(zone, options, flags, async ({ api, path, json, name }) => {
    await api.call("DELETE", `${path}/dns_records/${encodeURIComponent(id)}`);
    print(json, { zone: name, deleted: id }, [`deleted ${printable(id)}`]);
  });
};

/** The API's words for a missing priority do not say how this command is given one. */
async function written(call: Promise<unknown>): Promise<ListedRecord> {
  try {
    return (await call) as ListedRecord;
  } catch (error) {
    if (!(error instanceof ApiFailure) || !error.message.includes("priority is required")) throw error;
    throw new CliError(`${error.message}\nSet it with --priority, such as --priority 10.`);
  }
}

function checkId(zone: string, id: string): void {
  if (/^[0-9a-f]{32}$/.test(id)) return;
  throw new CliError(`${printable(id)} is not the ID of a record: selvedge records list ${printable(zone)} shows the IDs`, EXIT.usage);
}

function fieldsOf({ name, content, ttl, priority, proxied, comment }: RecordFields): Readonly<Record<string, unknown>> {
  if (proxied !== undefined && proxied !== "yes" && proxied !== "no") throw new CliError("--proxied takes yes or no", EXIT.usage);
  return {
    ...(name !== undefined && { name }),
    ...(content !== undefined && { content }),
    ...(ttl !== undefined && { ttl: whole("--ttl", ttl) }),
    ...(priority !== undefined && { priority: whole("--priority", priority) }),
    ...(proxied !== undefined && { proxied: proxied === "yes" }),
    ...(comment !== undefined && { comment }),
  };
}

function whole(option: string, value: string): number {
  if (!/^\d{1,10}$/.test(value)) throw new CliError(`${option} takes a whole number`, EXIT.usage);
  return Number(value);
}

const cells = ({ id, name, type, ttl, proxied, priority, content }: ListedRecord): readonly string[] => [
  ...[id, name, type, ttl === AUTOMATIC_TTL ? "auto" : String(ttl), proxied === true ? "yes" : "no"],
  printable(priority === undefined ? content : `${priority} ${content}`),
];
