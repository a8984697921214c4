import { type Static, Type } from "typebox";

/** What a text is looked through for; nothing of it is kept. */
export const SensitiveDataScan = Type.Object({
  text: Type.String({ minLength: 1, maxLength: 524_288 }),
  /** As in a rule that executes the managed ruleset: what counts as enabled. */
  overrides: Type.Optional(Type.Record(Type.String(), Type.Unknown())),
});
export type SensitiveDataScan = Static<typeof SensitiveDataScan>;

export const SensitiveDataFindings = Type.Object({
  /** Bytes of the text in UTF-8. */
  bytes: Type.Integer(),
  /** So much of it looks like numbers and keys that not all of it was looked at. */
  scan_limited: Type.Boolean(),
  /** In the order of their first hits. */
  findings: Type.Array(
    Type.Object({
      rule_id: Type.String(),
      detector: Type.String(),
      description: Type.String(),
      categories: Type.Array(Type.String()),
      confidence: Type.Enum(["medium", "high"]),
      /** Whether a response with the text would leave an event over it. */
      enabled: Type.Boolean(),
      count: Type.Integer(),
      /** Byte offset of the first hit. */
      offset: Type.Integer(),
    }),
  ),
});
export type SensitiveDataFindings = Static<typeof SensitiveDataFindings>;
