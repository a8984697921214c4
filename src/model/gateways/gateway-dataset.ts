import { type Static, Type } from "typebox";
import { GatewayLogFilters } from "./gateway-log-filter.ts";

const Name = Type.String({ minLength: 1, maxLength: 256 });

export const GatewayDatasetWrite = Type.Object({ name: Name, enable: Type.Boolean(), filters: GatewayLogFilters });
export type GatewayDatasetWrite = Static<typeof GatewayDatasetWrite>;

/** Filters that select a gateway's logs; the dataset has no time limits. */
export const GatewayDataset = Type.Object({
  id: Type.String(),
  account_id: Type.String(),
  /** The older name of account_id. */
  account_tag: Type.String(),
  gateway_id: Type.String(),
  ...GatewayDatasetWrite.properties,
  created_at: Type.String({ format: "date-time" }),
  modified_at: Type.String({ format: "date-time" }),
});
export type GatewayDataset = Static<typeof GatewayDataset>;

const EVALUATED_ON = "2026-01-01T00:00:00.000000Z";

/** Evaluations that can be computed from logs alone. Ids never change, because stored evaluations refer to them. */
export const EVALUATION_TYPES = [
  { id: "c05700000000000000000000000000a1", name: "Cost", type: "cost", description: "Average cost of a request, in US dollars." },
  {
    id: "5beed0000000000000000000000000a2",
    name: "Speed",
    type: "speed",
    description: "Average duration of a request, in milliseconds.",
  },
  {
    id: "feedbac0000000000000000000000a30",
    name: "Human Feedback",
    type: "human_feedback",
    description: "Percentage of requests with positive feedback among those with feedback.",
  },
].map((type) => ({ ...type, enable: true, mandatory: true, created_at: EVALUATED_ON, modified_at: EVALUATED_ON }));

export const EvaluationType = Type.Object({
  id: Type.String(),
  name: Type.String(),
  type: Type.String(),
  description: Type.String(),
  enable: Type.Boolean(),
  mandatory: Type.Boolean(),
  created_at: Type.String(),
  modified_at: Type.String(),
});
export type EvaluationType = Static<typeof EvaluationType>;

export const GatewayEvaluationCreate = Type.Object({
  name: Name,
  dataset_ids: Type.Array(Type.String({ maxLength: 64 }), { minItems: 1, maxItems: 5 }),
  evaluation_type_ids: Type.Array(Type.String({ maxLength: 64 }), { minItems: 1, maxItems: 10 }),
});
export type GatewayEvaluationCreate = Static<typeof GatewayEvaluationCreate>;

const Result = Type.Object({
  id: Type.String(),
  evaluation_id: Type.String(),
  evaluation_type_id: Type.String(),
  /** A number as text; empty if no request has the data for it. */
  result: Type.String(),
  /** 1: done. 2: no request has the data for it. */
  status: Type.Integer(),
  status_description: Type.String(),
  total_logs: Type.Integer(),
  created_at: Type.String(),
  modified_at: Type.String(),
});
export type EvaluationResult = Static<typeof Result>;

/** Results at the time of its creation; later logs do not change them. */
export const GatewayEvaluation = Type.Object({
  id: Type.String(),
  gateway_id: Type.String(),
  name: Name,
  datasets: Type.Array(GatewayDataset),
  processed: Type.Boolean(),
  results: Type.Array(Result),
  total_logs: Type.Integer(),
  created_at: Type.String({ format: "date-time" }),
  modified_at: Type.String({ format: "date-time" }),
});
export type GatewayEvaluation = Static<typeof GatewayEvaluation>;

const Text = Type.Optional(Type.String({ maxLength: 256 }));
/** `name` is the whole name, `search` a part of it. */
export const NamedList = Type.Object({ name: Text, search: Text });
export type NamedList = Static<typeof NamedList>;
