import type * as GraphQl from "graphql";
import { systemClock } from "#kernel/clock.ts";
import { PlatformError } from "#kernel/errors/errors.ts";
import type { AnalyticsScope } from "#model/events/analytics.ts";
import { analyticsNodes } from "./analytics-nodes.ts";
import type { GraphQlContext, ScopeSource } from "./context.ts";
import { withKnownVariables } from "./known-variables.ts";
import { settingsField } from "./node-settings.ts";
import { boundSteps } from "./query-steps.ts";
import { boundVariables, depthRule, introspectionRule } from "./query-bounds.ts";
import { createSerialExecutor, type SerialExecutor } from "./serial-executor.ts";
import { jsonParts } from "./slices.ts";

export interface GraphQlRequest {
  readonly query: string;
  readonly variables?: Readonly<Record<string, unknown>> | null | undefined;
  readonly operationName?: string | null | undefined;
}

/** A query with more tokens is refused before it is parsed. */
const TOKENS_MAX = 2_000;
/** Zones or accounts that one field may name; exporters ask for ten at once. */
const TAGS_MAX = 20;
/** Limit of errors of each kind in one answer; the first ones explain the problem. */
const ERRORS_MAX = 20;
/** Messages quote the input, which can be long. */
const MESSAGE_MAX = 1_000;

/**
 * The response of GraphQL itself (its specification, §7) as JSON, without the envelope: errors are beside the data. A long one is made
 * in slices, while its reader takes it.
 */
export async function executeGraphQl(request: GraphQlRequest, req: GraphQlContext["req"]): Promise<string | AsyncIterableIterator<string>> {
  const { analytics } = req.control;
  const nodes = createSerialExecutor((scope) => analytics.begin(req.call, scope));
  const answered = async (): Promise<string | AsyncIterableIterator<string>> => {
    const parts = jsonParts(await execute(request, req, nodes));
    const [first, second] = [await parts.next(), await parts.next()];
    const place = nodes.place();
    if (second.done !== true && place !== undefined) return analytics.sent(place, before([first.value ?? "", second.value], parts));
    place?.release();
    let text = (first.value ?? "") + (second.value ?? "");
    for await (const part of parts) text += part;
    return text;
  };
  return answered().catch((error: unknown) => {
    nodes.place()?.release();
    throw error;
  });
}

async function* before(made: readonly string[], parts: AsyncGenerator<string, undefined>): AsyncGenerator<string, undefined> {
  yield* made;
  yield* parts;
  return undefined;
}

async function execute(request: GraphQlRequest, req: GraphQlContext["req"], nodes: SerialExecutor): Promise<object> {
  const { graphql, schema } = await (loaded ??= load());
  let document: GraphQl.DocumentNode;
  try {
    boundVariables(request.variables);
    const parsed = graphql.parse(request.query, { maxTokens: TOKENS_MAX });
    boundSteps(parsed);
    document = withKnownVariables(graphql, schema, parsed);
  } catch (error) {
    return { data: null, errors: [shownError(error)] };
  }
  const rules = [depthRule(graphql), introspectionRule(graphql), ...graphql.specifiedRules];
  const problems = graphql.validate(schema, document, rules, { maxErrors: ERRORS_MAX });
  if (problems.length > 0) return { data: null, errors: problems.map(shownError) };
  const { data = null, errors } = await graphql.execute({
    schema,
    document,
    contextValue: { req, seen: {}, inTurn: nodes.run } satisfies GraphQlContext,
    variableValues: request.variables ?? {},
    operationName: request.operationName ?? null,
    options: { maxCoercionErrors: ERRORS_MAX },
  });
  return { data, errors: errors?.map(shownError) ?? null };
}

let loaded: Promise<{ readonly graphql: typeof GraphQl; readonly schema: GraphQl.GraphQLSchema }> | undefined;

/** Loaded with the first query: most installations never need it. */
async function load() {
  const graphql = await import("graphql");
  return { graphql, schema: createSchema(graphql) };
}

function createSchema(graphql: typeof GraphQl): GraphQl.GraphQLSchema {
  const { GraphQLInputObjectType, GraphQLList, GraphQLNonNull, GraphQLObjectType, GraphQLScalarType, GraphQLSchema, GraphQLString } =
    graphql;
  const time = new GraphQLScalarType({ name: "Time", description: "ISO 8601, as 2030-01-31T08:00:00Z." });
  const date = new GraphQLScalarType({ name: "Date", description: "As 2030-01-31." });
  const nodes = analyticsNodes(graphql, { time, date });
  const scopeOf = (name: "zone" | "account", tag: string): GraphQl.GraphQLObjectType<ScopeSource & object, GraphQlContext> => {
    const type = name === "zone" ? "Zone" : "Account";
    const fields = nodes(name);
    return new GraphQLObjectType<ScopeSource & object, GraphQlContext>({
      name: type,
      fields: { [tag]: { type: new GraphQLNonNull(GraphQLString) }, settings: settingsField(graphql, fields, type), ...fields },
    });
  };
  const listed = (name: "zone" | "account", key: "zone_id" | "account_id"): GraphQl.GraphQLFieldConfig<unknown, GraphQlContext> => {
    const tag = `${name}Tag`;
    const filter = new GraphQLInputObjectType({
      name: name === "zone" ? "ZoneFilter" : "AccountFilter",
      fields: { [tag]: { type: GraphQLString }, [`${tag}_in`]: { type: new GraphQLList(new GraphQLNonNull(GraphQLString)) } },
    });
    return {
      type: new GraphQLNonNull(new GraphQLList(new GraphQLNonNull(scopeOf(name, tag)))),
      args: { filter: { type: filter }, limit: { type: graphql.GraphQLInt } },
      resolve: async (_parent, args, { req, seen }) => {
        const tags = tagsOf(tag, args as TagArguments) ?? (await (seen[name] ??= req.control.analytics.readable(req.call, name, TAGS_MAX)));
        return tags.slice(0, tagsMax(args as TagArguments)).map((id) => ({ [tag]: id, scope: { [key]: id } as unknown as AnalyticsScope }));
      },
    };
  };
  const viewer = new GraphQLObjectType<unknown, GraphQlContext>({
    name: "Viewer",
    fields: { zones: listed("zone", "zone_id"), accounts: listed("account", "account_id") },
  });
  const query = new GraphQLObjectType({ name: "Query", fields: { viewer: { type: new GraphQLNonNull(viewer), resolve: () => ({}) } } });
  return new GraphQLSchema({ query });
}

interface TagArguments {
  readonly filter?: Readonly<Record<string, string | readonly string[] | null | undefined>> | null;
  readonly limit?: number | null;
}

/** Each is named by its identifier, and each node checks whether the caller may read it. Undefined without a filter. */
function tagsOf(tag: string, { filter }: TagArguments): readonly string[] | undefined {
  if (!filter) return undefined;
  const tags = [filter[tag] ?? [], filter[`${tag}_in`] ?? []].flat();
  if (tags.length === 0 || tags.length > TAGS_MAX)
    throw new PlatformError("invalid_input", { message: `filter must name from 1 to ${TAGS_MAX} by ${tag} or ${tag}_in` });
  return tags;
}

const tagsMax = ({ limit }: TagArguments): number => Math.max(0, Math.min(limit ?? TAGS_MAX, TAGS_MAX));

/** An error of the caller, or one that PlatformError allows to be shown; other errors are thrown, for the server to handle. */
function shownError(error: unknown): object {
  const { message, path, locations, originalError = error } = error as GraphQl.GraphQLError;
  const shown = (code: string) => ({
    message: message.length > MESSAGE_MAX ? `${message.slice(0, MESSAGE_MAX)}…` : message,
    path: path ?? null,
    locations: locations ?? null,
    extensions: { code, timestamp: new Date(systemClock.nowMs()).toISOString() },
  });
  if (originalError instanceof PlatformError) return shown(codeOf(originalError));
  if ((originalError as Error).name === "GraphQLError") return shown("invalid_input");
  throw originalError;
}

/** Always a word: clients of the service look for `authz` if a token does not cover the requested data. */
const codeOf = ({ errorName, status }: PlatformError): string => (status === 403 || status === 404 ? "authz" : errorName);
