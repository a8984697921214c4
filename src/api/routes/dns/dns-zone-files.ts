import { Type } from "typebox";
import { type Route, route } from "#api/route.ts";
import { DnsImport, ImportLine, ON_ERROR, type OnError } from "#model/dns/dns-import.ts";
import { zoneOf } from "#api/zone-of.ts";

const COLLECTION = "/zones/:zone_id/dns_records";

/** Clients send booleans in the spelling of their language. */
const ImportForm = Type.Object({
  file: Type.String({ minLength: 1, description: "A zone file in the format of RFC 1035; $INCLUDE is not allowed." }),
  proxied: Type.Optional(
    Type.String({ pattern: "^(?:[Tt]rue|[Ff]alse)?$", description: "Whether to proxy the records that can be proxied; false by default." }),
  ),
  on_error: Type.Optional(
    Type.Enum([...ON_ERROR], {
      description:
        "refuse: no record is imported if anything is wrong; clamp (default): TTLs, comments and tags beyond the limits are cut, other errors refuse the file; skip: also leaves out the lines that are wrong.",
    }),
  ),
  dry_run: Type.Optional(Type.String({ pattern: "^(?:[Tt]rue|[Ff]alse)?$", description: "Whether only to report, and write nothing." })),
});

/** The same two words as in the form. */
const ImportQuery = Type.Object({ on_error: Type.Optional(Type.Enum([...ON_ERROR])), dry_run: Type.Optional(Type.Boolean()) });

const ImportResult = Type.Object({
  recs_added: Type.Integer(),
  total_records_parsed: Type.Integer(),
  /** Lines that were changed or skipped; in a dry run all. */
  report: Type.Optional(Type.Array(ImportLine)),
  /** For files of more than 500 records. */
  import: Type.Optional(DnsImport),
});

const isTrue = (word: string | undefined): boolean => word?.toLowerCase() === "true";

export const DNS_ZONE_FILE_ROUTES: readonly Route[] = [
  route({
    method: "GET",
    path: `${COLLECTION}/export`,
    id: "dns-records-export",
    summary: "Export a zone as a zone file",
    scope: "zone",
    permissions: ["DNS Read", "DNS Write"],
    result: Type.String(),
    paging: "raw",
    media_type: "text/plain",
    handler: async ({ control, call, resolved }) => ({
      type: "text/plain; charset=utf-8",
      body: await control.zoneFiles.export(zoneOf(resolved), call),
    }),
  }),
  route({
    method: "POST",
    path: `${COLLECTION}/import`,
    id: "dns-records-import",
    summary: "Add the records of a zone file",
    scope: "zone",
    permissions: ["DNS Write"],
    query: ImportQuery,
    body: ImportForm,
    body_type: "multipart",
    limits: "dns_import",
    result: ImportResult,
    paging: "one",
    handler: async ({ control, call, resolved, body, query, prefers_async: respondAsync }) => {
      call.dry_run = query.dry_run ?? isTrue(body.dry_run);
      const onError: OnError = query.on_error ?? body.on_error ?? "clamp";
      const options = { proxied: isTrue(body.proxied), onError, respondAsync };
      const { report, ...result } = await control.zoneFiles.import(call, zoneOf(resolved), body.file, options);
      return report === undefined ? result : { ...result, report: [...report] };
    },
  }),
  route({
    method: "GET",
    path: `${COLLECTION}/import`,
    id: "dns-records-imports-list",
    summary: "List the last imports of large zone files, newest first",
    scope: "zone",
    permissions: ["DNS Read", "DNS Write"],
    result: DnsImport,
    paging: "list",
    handler: ({ control, resolved }) => control.zoneFiles.jobs.list(zoneOf(resolved)),
  }),
  route({
    method: "GET",
    path: `${COLLECTION}/import/:import_id`,
    id: "dns-records-imports-get",
    summary: "Show the progress and errors of an import of a large zone file",
    scope: "zone",
    permissions: ["DNS Read", "DNS Write"],
    result: DnsImport,
    paging: "one",
    handler: ({ control, resolved, params }) => control.zoneFiles.jobs.get(zoneOf(resolved), params.import_id),
  }),
];
