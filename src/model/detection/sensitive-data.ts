import { type Static, type TSchema, Type } from "typebox";

/** A text to be scanned for sensitive data; nothing is stored. */
export const SensitiveDataScan = Type.Object({
  text: Type.String({ minLength: 1, maxLength: 524_288 }),
  /** As in a rule that executes the managed ruleset: decides which findings count as enabled. */
  overrides: Type.Optional(Type.Record(Type.String(), Type.Unknown())),
});
export type SensitiveDataScan = Static<typeof SensitiveDataScan>;

export const SensitiveDataFindings = Type.Object({
  /** UTF-8 bytes of the text. */
  bytes: Type.Integer(),
  /** The text has so many candidates that not all were checked. */
  scan_limited: Type.Boolean(),
  /** In the order of their first hits. */
  findings: Type.Array(
    Type.Object({
      rule_id: Type.String(),
      detector: Type.String(),
      description: Type.String(),
      categories: Type.Array(Type.String()),
      /** Three enabled kinds close to each other raise each other to high. */
      confidence: Type.Enum(["low", "medium", "high"]),
      /** Whether a response with this text would cause an event, unless an allow-list matches it. */
      enabled: Type.Boolean(),
      count: Type.Integer(),
      /** Byte offset of the first hit. */
      offset: Type.Integer(),
      /** Path of the first hit, if the text is JSON. */
      json_path: Type.Optional(Type.String()),
      /** Hash of the first hit's value with the zone's key, as in events and allow-lists. */
      value_hash: Type.String(),
    }),
  ),
});
export type SensitiveDataFindings = Static<typeof SensitiveDataFindings>;

const Id = Type.String();
/** Hash of the value, from an event or a scan. */
const ValueHash = Type.String({ pattern: "^[0-9a-f]{32}$" });
/** `$.orders[*].number`: `[*]` or `.*` matches any one step. */
const JsonPath = Type.String({ pattern: "^\\$", maxLength: 1024 });
/** Path of the request; asterisks match any text. */
const Path = Type.String({ pattern: "^/", maxLength: 2048 });
/** The rule whose hits are allowed; absent: any rule. */
const RuleId = Type.String({ pattern: "^[0-9a-f]{32}$" });
const Description = Type.String({ maxLength: 500 });
const ALLOWED = {
  value_hash: Type.Optional(ValueHash),
  json_path: Type.Optional(JsonPath),
  path: Type.Optional(Path),
  rule_id: Type.Optional(RuleId),
  description: Type.Optional(Description),
};

/** A hit that matches all members is ignored. */
export const AllowedDataCreate = Type.Object(ALLOWED);
export type AllowedDataCreate = Static<typeof AllowedDataCreate>;

const Removable = <T extends TSchema>(schema: T) => Type.Optional(Type.Union([schema, Type.Null()]));

/** Null removes the member. */
export const AllowedDataChange = Type.Object({
  value_hash: Removable(ValueHash),
  json_path: Removable(JsonPath),
  path: Removable(Path),
  rule_id: Removable(RuleId),
  description: Removable(Description),
});
export type AllowedDataChange = Static<typeof AllowedDataChange>;

export const AllowedData = Type.Object({ id: Id, ...ALLOWED, created_on: Type.String(), modified_on: Type.String() });
export type AllowedData = Static<typeof AllowedData>;

const Word = Type.String({ minLength: 2, maxLength: 64 });
const Name = Type.String({ minLength: 1, maxLength: 100 });
/** As in rules: Rust's syntax, over bytes. Begins with three literal characters or a digit. */
const Expression = Type.String({ minLength: 1, maxLength: 512 });
/** Words of which one must occur in the 64 bytes before a match. */
const Context = Type.Array(Word, { maxItems: 20 });
const Validator = Type.Enum(["none", "luhn", "mod97"]);
const Tags = Type.Array(Type.String({ pattern: "^[a-z0-9-]{1,40}$" }), { maxItems: 10 });

/** A custom kind of sensitive data. */
export const SensitiveDataPatternCreate = Type.Object({
  name: Name,
  pattern: Expression,
  context: Type.Optional(Context),
  validator: Type.Optional(Validator),
  tags: Type.Optional(Tags),
  enabled: Type.Optional(Type.Boolean()),
});
export type SensitiveDataPatternCreate = Static<typeof SensitiveDataPatternCreate>;

export const SensitiveDataPatternChange = Type.Partial(SensitiveDataPatternCreate);
export type SensitiveDataPatternChange = Static<typeof SensitiveDataPatternChange>;

/** `id` is also the id of its rule in events. */
export const SensitiveDataPattern = Type.Object({
  id: Id,
  name: Name,
  pattern: Expression,
  context: Context,
  validator: Validator,
  tags: Tags,
  enabled: Type.Boolean(),
  created_on: Type.String(),
  modified_on: Type.String(),
});
export type SensitiveDataPattern = Static<typeof SensitiveDataPattern>;
