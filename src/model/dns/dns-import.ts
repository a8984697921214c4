import { type Static, Type } from "typebox";

/** Handling of invalid records in an import. `clamp` reduces values above the limits; `skip` also omits invalid records. */
export const ON_ERROR = ["refuse", "clamp", "skip"] as const;
export type OnError = (typeof ON_ERROR)[number];

/** The result for a record of the file. */
export const ImportLine = Type.Object({
  line: Type.Integer(),
  action: Type.Enum(["added", "clamped", "unchanged", "ignored", "skipped"], {
    description:
      "clamped: added with other values; unchanged: the zone has it already; ignored: the server creates it itself; skipped: it is invalid. An import lists clamped and skipped lines, a dry run all of them, up to 1,000.",
  }),
  code: Type.Optional(Type.Integer()),
  message: Type.Optional(Type.String()),
});
export type ImportLine = Static<typeof ImportLine>;

/** An import of a zone file that runs in the background. */
export const DnsImport = Type.Object({
  id: Type.String(),
  status: Type.Union(
    ["receiving", "queued", "running", "done", "failed"].map((status) => Type.Literal(status)),
    {
      description:
        "The nameserver serves none of the records until the import is done, and then all of them; a failed import leaves no records.",
    },
  ),
  total_records_parsed: Type.Integer({ description: "Number of records in the file." }),
  records_done: Type.Integer({ description: "Number of records processed so far." }),
  recs_added: Type.Integer({ description: "Number of records that were new to the zone; 0 until the import is done." }),
  errors: Type.Array(Type.Object({ code: Type.Integer(), message: Type.String() })),
  report: Type.Array(ImportLine, { description: "At most 1,000 lines; those that were left out come first." }),
  created_on: Type.String(),
  finished_on: Type.Union([Type.String(), Type.Null()]),
});
export type DnsImport = Static<typeof DnsImport>;
