import { Type, type Static } from "typebox";
import { isModelProvider } from "#kernel/model-providers.ts";
import { conditionProblem } from "#rules/route-conditions.ts";

const Time = Type.String({ format: "date-time" });
const RouteName = Type.String({ minLength: 1, maxLength: 64, pattern: "^[A-Za-z0-9_.-]+$" });
const Target = Type.Object({ elementId: Type.String({ minLength: 1, maxLength: 64 }) });
const Id = Type.String({ minLength: 1, maxLength: 64 });

const of = (type: string, text: string): { readonly description: string } => ({ description: `${type}: ${text}` });
const Conditions = (description: { readonly description: string }) => Type.Record(Type.String(), Type.Unknown(), description);
/** Kinds differ in their properties, which `elementsProblem` checks; other properties are kept. */
const Properties = Type.Object({
  provider: Type.Optional(Type.String(of("model", "the provider, such as openai."))),
  model: Type.Optional(Type.String(of("model", "the model's name at the provider."))),
  retries: Type.Optional(Type.Number(of("model", "attempts after a failed one, from 0 to 5."))),
  timeout: Type.Optional(Type.Number(of("model", "milliseconds until the first byte of the response."))),
  conditions: Type.Optional(
    Conditions(of("conditional", 'conditions on fields of the request and its metadata, as in {"metadata.plan": {"$eq": "paid"}}.')),
  ),
  condition: Type.Optional(Conditions(of("conditional", "another name of conditions."))),
  key: Type.Optional(Type.String(of("rate", "the field whose values are limited separately, such as metadata.user."))),
  limit: Type.Optional(Type.Number(of("rate", "the number of requests, or US dollars, in a window."))),
  limitType: Type.Optional(Type.String(of("rate", "count (default) or cost."))),
  window: Type.Optional(Type.Number(of("rate", "the length of a window in seconds."))),
  interval: Type.Optional(Type.Number(of("rate", "another name of window."))),
  technique: Type.Optional(Type.String(of("rate", "fixed (default) or sliding."))),
});
const Element = Type.Object({
  id: Id,
  type: Type.Enum(["start", "conditional", "percentage", "rate", "rate_limit", "model", "end"], {
    description:
      "start: the first element. conditional: goes on at true or false. percentage: divides requests by share. rate (or rate_limit): goes " +
      "on at success within a limit. model: asks a model. end: the last element.",
  }),
  properties: Type.Optional(Properties),
  outputs: Type.Optional(
    Type.Record(Type.String({ maxLength: 64 }), Target, {
      description:
        "The next elements. start: next. conditional: true, false. percentage: shares such as 25%, and else. rate: success, fallback. " +
        "model: success, fallback (after a failure).",
    }),
  ),
});
type Element = Static<typeof Element>;
const Elements = Type.Array(Element, {
  minItems: 1,
  maxItems: 100,
  description:
    "Each with id, type, properties and outputs ({name: {elementId}}). Types: start (outputs: next); conditional (conditions; true, false); " +
    "percentage (shares such as 25%, and else); rate (key, limit, limitType, window, technique; success, fallback); " +
    "model (provider, model, retries from 0 to 5, timeout in ms; success, fallback); end.",
});

export const GatewayRouteCreate = Type.Object({ name: RouteName, elements: Elements });
export type GatewayRouteCreate = Static<typeof GatewayRouteCreate>;
export const GatewayRouteUpdate = Type.Object({ name: RouteName });
export const RouteVersionCreate = Type.Object({ elements: Elements });
export const RouteDeploymentCreate = Type.Object({ version_id: Id });

export const RouteDeployment = Type.Object({ deployment_id: Type.String(), version_id: Type.String(), created_at: Time });
export type RouteDeployment = Static<typeof RouteDeployment>;
export const RouteVersion = Type.Object({
  version_id: Type.String(),
  active: Type.Enum(["true", "false"]),
  data: Type.String({ description: "The elements as JSON." }),
  is_valid: Type.Boolean(),
  created_at: Time,
});
export type RouteVersion = Static<typeof RouteVersion>;
export const RouteVersionDetail = Type.Object({
  ...RouteVersion.properties,
  id: Type.String(),
  gateway_id: Type.String(),
  name: Type.String(),
  elements: Elements,
  modified_at: Time,
});
export type RouteVersionDetail = Static<typeof RouteVersionDetail>;

/** A dynamic route; its elements are those of the deployed version. */
export const GatewayRoute = Type.Object({
  id: Type.String(),
  account_tag: Type.String(),
  gateway_id: Type.String(),
  name: Type.String(),
  elements: Elements,
  version: RouteVersion,
  deployment: RouteDeployment,
  created_at: Time,
  modified_at: Time,
});
export type GatewayRoute = Static<typeof GatewayRoute>;

/** Besides the first attempt. */
const ROUTE_RETRIES_MAX = 5;

const OUTPUTS: Readonly<Record<string, readonly string[]>> = {
  start: ["next"],
  conditional: ["true", "false"],
  rate: ["success", "fallback"],
  rate_limit: ["success", "fallback"],
  model: ["success", "fallback"],
};

/** Why the elements do not form a valid route, or null. */
export function elementsProblem(elements: readonly Element[]): string | null {
  const ids = new Set(elements.map(({ id }) => id));
  if (ids.size < elements.length) return "two elements have the same id";
  if (elements.filter(({ type }) => type === "start").length !== 1) return "there must be exactly one start element";
  for (const element of elements) {
    const problem = elementProblem(element, ids);
    if (problem !== null) return `${element.id}: ${problem}`;
  }
  if (hasCircle(elements)) return "the elements form a cycle";
  return reachesModel(elements) ? null : "the start leads to no model";
}

function elementProblem({ type, properties: own = {}, outputs = {} }: Element, ids: ReadonlySet<string>): string | null {
  const properties: Readonly<Record<string, unknown>> = own;
  const missing = OUTPUTS[type]?.find((name) => outputs[name] === undefined);
  if (missing !== undefined) return `the output ${missing} is missing`;
  const lost = Object.values(outputs).find(({ elementId }) => !ids.has(elementId));
  if (lost !== undefined) return `element ${lost.elementId} does not exist`;
  if (type === "percentage") return sharesProblem(Object.keys(outputs));
  if (type === "conditional") return conditionProblem(properties["conditions"] ?? properties["condition"]);
  if (type === "rate" || type === "rate_limit") return rateProblem(properties);
  if (type !== "model") return null;
  const isText = (name: string): boolean => typeof properties[name] === "string" && properties[name] !== "";
  if (!isText("provider") || !isText("model")) return "a model element requires provider and model";
  if (!isModelProvider(String(properties["provider"]))) return `provider ${String(properties["provider"])} does not exist`;
  if (!["retries", "timeout"].every((name) => properties[name] === undefined || isCount(properties[name])))
    return "retries and timeout must be whole numbers";
  return Number(properties["retries"] ?? 0) > ROUTE_RETRIES_MAX ? `retries must be at most ${ROUTE_RETRIES_MAX}` : null;
}

const isCount = (value: unknown): boolean => Number.isSafeInteger(value) && Number(value) >= 0;

function sharesProblem(names: readonly string[]): string | null {
  const shares = names.filter((name) => name !== "else");
  if (!shares.every((name) => /^\d{1,3}(\.\d{1,4})?%?$/.test(name))) return "shares must be percentages such as 25%, or the name else";
  const sum = shares.reduce((all, name) => all + Number.parseFloat(name), 0);
  if (sum > 100) return "the shares add up to more than 100%";
  return sum < 100 && !names.includes("else") ? "the shares add up to less than 100%, and else is missing" : null;
}

function rateProblem({ limit, limitType, window, interval, key, technique }: Readonly<Record<string, unknown>>): string | null {
  if (typeof limit !== "number" || !(limit >= 0)) return "a rate element requires a limit";
  if (limitType !== undefined && limitType !== "count" && limitType !== "cost") return "limitType must be count or cost";
  if (technique !== undefined && technique !== "fixed" && technique !== "sliding") return "technique must be fixed or sliding";
  if (key !== undefined && typeof key !== "string") return "key must name a field";
  const seconds = window ?? interval;
  return isCount(seconds) && Number(seconds) >= 1 && Number(seconds) <= 31_536_000 ? null : "a rate element requires a window in seconds";
}

/** Whether a way from the start passes a model; the elements form no cycle. */
function reachesModel(elements: readonly Element[]): boolean {
  const byId = new Map(elements.map((element) => [element.id, element]));
  const seen = new Set<string>();
  const visit = (element: Element | undefined): boolean => {
    if (element === undefined || seen.has(element.id)) return false;
    seen.add(element.id);
    return element.type === "model" || Object.values(element.outputs ?? {}).some(({ elementId }) => visit(byId.get(elementId)));
  };
  return visit(elements.find(({ type }) => type === "start"));
}

function hasCircle(elements: readonly Element[]): boolean {
  const byId = new Map(elements.map((element) => [element.id, element]));
  const state = new Map<string, "open" | "done">();
  const visit = (id: string): boolean => {
    if (state.get(id) !== undefined) return state.get(id) === "open";
    state.set(id, "open");
    const found = Object.values(byId.get(id)?.outputs ?? {}).some(({ elementId }) => visit(elementId));
    state.set(id, "done");
    return found;
  };
  return elements.some(({ id }) => visit(id));
}
