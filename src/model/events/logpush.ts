import { Type, type Static, type TSchema } from "typebox";

const Nullable = <T extends TSchema>(schema: T) => Type.Union([schema, Type.Null()]);

/** The dataset of jobs: one record per request through a gateway whose logs are pushed (`logpush`). */
export const LOG_DATASET = "ai_gateway_events";
const Dataset = Type.Enum([LOG_DATASET]);

/** Fields of a record with their descriptions. Receivers already know the names up to `StatusCode`. */
export const LOG_FIELDS = {
  Cached: "Whether the response came from the cache.",
  Endpoint: "Path after the provider.",
  Gateway: "ID of the gateway.",
  Metadata: "Metadata that the request sent; encrypted if the gateway has a public key.",
  Model: "Requested model.",
  Provider: "Provider that responded or failed last.",
  RateLimited: "Always false: requests over a limit have no log.",
  RequestBody: "As stored; encrypted if the gateway has a public key, null if it is not stored or too large.",
  ResponseBody: "As stored; encrypted if the gateway has a public key, null if it is not stored or too large.",
  StatusCode: "Status of the response.",
  Timestamp: "Time of the request.",
  LogID: "ID of the log.",
  EventID: "Client-defined ID that groups several requests.",
  Method: "Method of the request.",
  Success: "Whether the provider responded without an error.",
  Step: "Index of the provider among those that the request tried, from 0.",
  ModelType: "Type of the model.",
  RequestType: "Type of the request.",
  DurationMs: "Time to the last byte of the response.",
  FirstByteMs: "Time to the first byte of the response.",
  TokensIn: "Tokens in the request.",
  TokensOut: "Tokens in the response.",
  TokensInCached: "The part of TokensIn that the provider read from its cache.",
  TokensOutReasoning: "The part of TokensOut that the model used for reasoning.",
  TokensEstimated: "Whether the gateway counted the tokens because the provider did not report them.",
  Cost: "US dollars; null if unknown.",
  RequestContentType: "Media type of the request.",
  ResponseContentType: "Media type of the response.",
  RequestBytes: "Size of the request body in bytes.",
  ResponseBytes: "Size of the response body in bytes.",
  UserAgent: "User agent of the client.",
  DLPAction: "Action of data loss prevention: FLAG, BLOCK or empty.",
  GuardrailAction: "Action of guardrails: FLAG, BLOCK or empty.",
  GuardrailFindings: "JSON with the hazards that guardrails found in the prompt and in the response. Empty without any.",
} as const satisfies Readonly<Record<string, string>>;
export type LogField = keyof typeof LOG_FIELDS;

export const LogFields = Type.Record(Type.String(), Type.String(), { description: "Description of each field, by name." });

const TimestampFormat = Type.Enum(["unixnano", "unix", "rfc3339", "rfc3339ms", "rfc3339ns"]);
export type TimestampFormat = Static<typeof TimestampFormat>;

/** The format is fixed: one line of JSON per record. Members that select a format accept only the matching values. */
export const LogOutput = Type.Object({
  field_names: Type.Optional(Nullable(Type.Array(Type.Enum(Object.keys(LOG_FIELDS) as LogField[]), { minItems: 1, maxItems: 100 }))),
  timestamp_format: Type.Optional(Nullable(TimestampFormat)),
  output_type: Type.Optional(Nullable(Type.Enum(["ndjson"]))),
  sample_rate: Type.Optional(Nullable(Type.Enum([0, 1]))),
  batch_prefix: Type.Optional(Nullable(Type.Enum([""]))),
  batch_suffix: Type.Optional(Nullable(Type.Enum([""]))),
  field_delimiter: Type.Optional(Nullable(Type.Enum(["", ","]))),
  record_delimiter: Type.Optional(Nullable(Type.Enum([""]))),
  record_prefix: Type.Optional(Nullable(Type.Enum(["", "{"]))),
  record_suffix: Type.Optional(Nullable(Type.Enum(["", "}\n"]))),
  record_template: Type.Optional(Nullable(Type.Enum([""]))),
  merge_subrequests: Type.Optional(Nullable(Type.Literal(false))),
  "CVE-2021-44228": Type.Optional(Nullable(Type.Boolean({ description: "Replaces ${ with x{." }))),
});
export type LogOutput = Static<typeof LogOutput>;

const Destination = Type.String({
  minLength: 8,
  maxLength: 4096,
  description:
    "https://host/path?header_Authorization=…: the server sends files there by POST, with the request headers that header_ parameters name. s3://bucket/directory/{DATE}?region=…&access-key-id=…&secret-access-key=…&endpoint=storage.example: the server writes files as objects.",
});
const Name = Nullable(Type.String({ maxLength: 512, pattern: "^[^\\x00-\\x1f\\x7f]*$" }));
/** 0 and null select the default. */
const bound = (minimum: number, maximum: number) => Nullable(Type.Union([Type.Literal(0), Type.Integer({ minimum, maximum })]));

const SETTINGS = {
  name: Type.Optional(Name),
  enabled: Type.Optional(Type.Boolean()),
  output_options: Type.Optional(Nullable(LogOutput)),
  max_upload_bytes: Type.Optional(bound(5_000_000, 1_000_000_000)),
  max_upload_records: Type.Optional(bound(1_000, 1_000_000)),
  max_upload_interval_seconds: Type.Optional(bound(30, 300)),
  frequency: Type.Optional(Nullable(Type.Enum(["high", "low"], { description: "Predecessor of max_upload_interval_seconds: 30 or 300." }))),
  ownership_challenge: Type.Optional(Type.String({ maxLength: 128 })),
  kind: Type.Optional(Type.Enum([""])),
  filter: Type.Optional(Nullable(Type.Enum([""]))),
  logpull_options: Type.Optional(Nullable(Type.Enum([""]))),
};

export const LogpushJobCreate = Type.Object({ dataset: Dataset, destination_conf: Destination, ...SETTINGS });
export type LogpushJobCreate = Static<typeof LogpushJobCreate>;

export const LogpushJobUpdate = Type.Object({ destination_conf: Type.Optional(Destination), ...SETTINGS });
export type LogpushJobUpdate = Static<typeof LogpushJobUpdate>;

const Time = Nullable(Type.String({ format: "date-time" }));
export const LogpushJob = Type.Object({
  id: Type.Integer(),
  dataset: Dataset,
  name: Name,
  enabled: Type.Boolean(),
  destination_conf: Destination,
  output_options: Nullable(LogOutput),
  max_upload_bytes: bound(5_000_000, 1_000_000_000),
  max_upload_records: bound(1_000, 1_000_000),
  max_upload_interval_seconds: bound(30, 300),
  frequency: Nullable(Type.Enum(["high", "low"])),
  kind: Type.Enum([""]),
  last_complete: Time,
  last_error: Time,
  error_message: Nullable(Type.String()),
});
export type LogpushJob = Static<typeof LogpushJob>;

export const LogpushJobId = Type.Object({ id: Type.Integer() });
export const LogDestination = Type.Object({ destination_conf: Destination });
export const LogDestinationValid = Type.Object({ valid: Type.Boolean(), message: Type.String() });
export const LogDestinationExists = Type.Object({ exists: Type.Boolean() });
export const LogOwnershipChallenge = Type.Object({ valid: Type.Boolean(), message: Type.String(), filename: Type.String() });
export const LogOwnership = Type.Object({ destination_conf: Destination, ownership_challenge: Type.String({ maxLength: 128 }) });
export const LogOwnershipValid = Type.Object({ valid: Type.Boolean() });

/** A job's stored settings, without its destination and times. */
export type LogpushSettings = Pick<
  LogpushJob,
  "name" | "output_options" | "max_upload_bytes" | "max_upload_records" | "max_upload_interval_seconds" | "frequency"
>;
