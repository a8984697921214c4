import { type Static, type TSchema, Type } from "typebox";

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
      /** Three kinds that are on, near to each other, make each other high. */
      confidence: Type.Enum(["medium", "high"]),
      /** Whether a response with the text would leave an event over it, unless an allow-list holds it. */
      enabled: Type.Boolean(),
      count: Type.Integer(),
      /** Byte offset of the first hit. */
      offset: Type.Integer(),
      /** Of the first hit, where the text is JSON. */
      json_path: Type.Optional(Type.String()),
      /** Of the first hit's value, as events and allow-lists have it: under a key of the zone. */
      value_hash: Type.String(),
    }),
  ),
});
export type SensitiveDataFindings = Static<typeof SensitiveDataFindings>;

const Id = Type.String();
/** Of the value, from an event or a scan of a text. */
const ValueHash = Type.String({ pattern: "^[0-9a-f]{32}$" });
/** `$.orders[*].number`: `[*]` or `.*` stands for any one step. */
const JsonPath = Type.String({ pattern: "^\\$", maxLength: 1024 });
/** Of the request; stars stand for anything. */
const Path = Type.String({ pattern: "^/", maxLength: 2048 });
/** The rule that would have hit; any without it. */
const RuleId = Type.String({ pattern: "^[0-9a-f]{32}$" });
const Description = Type.String({ maxLength: 500 });
const ALLOWED = {
  value_hash: Type.Optional(ValueHash),
  json_path: Type.Optional(JsonPath),
  path: Type.Optional(Path),
  rule_id: Type.Optional(RuleId),
  description: Type.Optional(Description),
};

/** What fits all of its members is no hit. */
export const AllowedDataCreate = Type.Object(ALLOWED);
export type AllowedDataCreate = Static<typeof AllowedDataCreate>;

const Removable = <T extends TSchema>(schema: T) => Type.Optional(Type.Union([schema, Type.Null()]));

/** What is null is taken away. */
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
/** As rules have them: Rust's syntax over bytes. It begins with three characters that stand for themselves, or with a digit. */
const Expression = Type.String({ minLength: 1, maxLength: 512 });
/** One of these stands within 64 bytes before. */
const Context = Type.Array(Word, { maxItems: 20 });
const Validator = Type.Enum(["none", "luhn", "mod97"]);
const Tags = Type.Array(Type.String({ pattern: "^[a-z0-9-]{1,40}$" }), { maxItems: 10 });

/** A kind of sensitive data of the zone's own. */
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
