import { Type, type Static } from "typebox";

const Headers = Type.Record(Type.String(), Type.Union([Type.String(), Type.Array(Type.String())]));

/** A hypothetical request, and the response of its origin. */
export const RuleTraceRequest = Type.Object({
  url: Type.String({ maxLength: 8192, description: "As a visitor enters it: https://www.example.com/path?query." }),
  method: Type.Optional(Type.String({ pattern: "^[A-Z]{1,20}$", description: "GET by default." })),
  headers: Type.Optional(Headers),
  body: Type.Optional(Type.String({ maxLength: 131_072 })),
  ip: Type.Optional(Type.String({ description: "The visitor's IP address; 192.0.2.1 by default." })),
  response: Type.Optional(
    Type.Object(
      { status: Type.Optional(Type.Integer({ minimum: 100, maximum: 999 })), headers: Type.Optional(Headers) },
      { description: "The origin's response; status 200 and HTML by default." },
    ),
  ),
});
export type RuleTraceRequest = Static<typeof RuleTraceRequest>;

const Step = Type.Object({
  ruleset_id: Type.String(),
  ruleset_version: Type.String(),
  rule_id: Type.String(),
  action: Type.String(),
  description: Type.String(),
  expression: Type.String(),
  result: Type.Enum(["applied", "not_matched", "below_limit", "below_threshold", "skipped", "exhausted"]),
  deployed_by: Type.Optional(Type.String({ description: "The rule that executes the ruleset." })),
  skipped_by: Type.Optional(Type.String({ description: "The rule that skips this one." })),
  matched: Type.Optional(
    Type.Object(
      { part: Type.String(), name: Type.String(), value: Type.String() },
      { description: "Where a managed rule matched, and the value that matched, after transformations." },
    ),
  ),
  score: Type.Optional(Type.Integer()),
  does: Type.Optional(
    Type.Record(Type.String(), Type.Unknown(), { description: "The action's parameters, with expressions replaced by their values." }),
  ),
});

export const RuleTrace = Type.Object({
  zone_name: Type.Union([Type.String(), Type.Null()]),
  terminated_by: Type.Union([
    Type.Object({ phase: Type.String(), ruleset_id: Type.String(), rule_id: Type.String(), action: Type.String() }),
    Type.Null(),
  ]),
  request: Type.Object(
    { method: Type.String(), url: Type.String(), headers: Type.Record(Type.String(), Type.Array(Type.String())) },
    { description: "The request as the edge forwards it to the origin." },
  ),
  phases: Type.Array(Type.Object({ phase: Type.String(), steps: Type.Array(Step) })),
  left_out: Type.Array(Type.Object({ ruleset_id: Type.String(), rule_id: Type.String(), message: Type.String() }), {
    description: "Rules that do not compile and therefore do not run.",
  }),
  truncated: Type.Boolean({ description: "True if there were more steps than shown." }),
});
export type RuleTrace = Static<typeof RuleTrace>;
