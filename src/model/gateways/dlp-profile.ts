import { Type, type Static } from "typebox";

const Time = Type.Optional(Type.String({ format: "date-time" }));
const Name = Type.String({ minLength: 1, maxLength: 100 });
const Description = Type.Optional(Type.Union([Type.String({ maxLength: 1000 }), Type.Null()]));
const Pattern = Type.Object({
  /** As in rules. Begins with three literal characters or a digit. */
  regex: Type.String({ minLength: 1, maxLength: 512 }),
  validation: Type.Optional(Type.Enum(["luhn"])),
});
const Words = Type.Array(Type.String({ minLength: 3, maxLength: 128 }), {
  minItems: 1,
  maxItems: 200,
  description: "Matched as whole words, case-insensitive.",
});

const EntryWrite = Type.Object({
  /** The id of an existing entry; new entries get one. */
  entry_id: Type.Optional(Type.String({ maxLength: 64 })),
  name: Name,
  description: Description,
  enabled: Type.Boolean(),
  pattern: Type.Optional(Pattern),
  words: Type.Optional(Words),
});
export type DlpEntryWrite = Static<typeof EntryWrite>;

/** A custom profile of an account. Settings without an effect are refused. */
export const DlpProfileWrite = Type.Object({
  name: Name,
  description: Description,
  entries: Type.Array(EntryWrite, { maxItems: 50 }),
  allowed_match_count: Type.Optional(Type.Integer({ minimum: 0, maximum: 0 })),
  ocr_enabled: Type.Optional(Type.Literal(false)),
  ai_context_enabled: Type.Optional(Type.Literal(false)),
  shared_entries: Type.Optional(Type.Array(Type.Object({}), { maxItems: 0 })),
});
export type DlpProfileWrite = Static<typeof DlpProfileWrite>;

const Kind = Type.Enum(["predefined", "custom"]);

export const DlpProfile = Type.Object({
  id: Type.String(),
  name: Type.String(),
  description: Type.Union([Type.String(), Type.Null()]),
  type: Kind,
  entries: Type.Array(
    Type.Object({
      id: Type.String(),
      name: Type.String(),
      description: Description,
      enabled: Type.Boolean(),
      type: Kind,
      profile_id: Type.String(),
      pattern: Type.Optional(Pattern),
      words: Type.Optional(Words),
    }),
  ),
  created_at: Time,
  updated_at: Time,
});
export type DlpProfile = Static<typeof DlpProfile>;
