import { type Static, Type } from "typebox";

/** An import of a zone file that goes on by itself. */
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
  created_on: Type.String(),
  finished_on: Type.Union([Type.String(), Type.Null()]),
});
export type DnsImport = Static<typeof DnsImport>;
