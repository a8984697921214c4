import { type Static, Type } from "typebox";

/** A query to the installation's own nameserver for a name in the zone. */
export const DnsQuery = Type.Object({
  name: Type.String({ minLength: 1, maxLength: 1020, description: "Absolute, or relative to the zone; @ is the zone itself." }),
  type: Type.Optional(Type.String({ minLength: 1, maxLength: 16, description: "A by default." })),
});
export type DnsQuery = Static<typeof DnsQuery>;

const Line = Type.Object({
  name: Type.String(),
  ttl: Type.Integer(),
  type: Type.String(),
  content: Type.String({ description: "In zone file format; unknown types as in RFC 3597." }),
});

/** Where the data of an answer came from. */
export const ANSWER_CAUSES = [
  "record",
  "wildcard",
  "alias",
  "flattened",
  "proxied",
  "delegation",
  "no_type",
  "no_name",
  "signed",
  "no_response",
] as const;
export const DnsQueryResult = Type.Object({
  name: Type.String(),
  type: Type.String(),
  status: Type.String({ description: "The RCODE by its name, or NORESPONSE." }),
  flags: Type.Array(Type.Enum(["aa", "tc", "rd", "ra"])),
  duration_ms: Type.Number(),
  answer: Type.Array(Line),
  authority: Type.Array(Line),
  additional: Type.Array(Line),
  because: Type.Array(
    Type.Object({
      cause: Type.Enum([...ANSWER_CAUSES]),
      message: Type.String(),
      record_id: Type.Optional(Type.String({ description: "The zone's record that it was created from." })),
    }),
    { description: "From the zone's records, why the answer is as it is." },
  ),
});
export type DnsQueryResult = Static<typeof DnsQueryResult>;
