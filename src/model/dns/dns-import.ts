import { type Static, Type } from "typebox";

/** An import of a zone file that goes on by itself. */
export const DnsImport = Type.Object({
  id: Type.String(),
  status: Type.Union(
    ["receiving", "queued", "running", "done", "failed"].map((status) => Type.Literal(status)),
    { description: "All of its records are served once it is done, and none before; a failed one has left nothing." },
  ),
  total_records_parsed: Type.Integer({ description: "Records of the file." }),
  records_done: Type.Integer({ description: "How many of them have been gone through." }),
  recs_added: Type.Integer({ description: "Those that were new to the zone; 0 until it is done." }),
  errors: Type.Array(Type.Object({ code: Type.Integer(), message: Type.String() })),
  created_on: Type.String(),
  finished_on: Type.Union([Type.String(), Type.Null()]),
});
export type DnsImport = Static<typeof DnsImport>;
