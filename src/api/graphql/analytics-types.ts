import type * as GraphQl from "graphql";
import {
  ANALYTICS_DATASETS,
  ANALYTICS_OPERATORS,
  type AnalyticsDataset,
  type AnalyticsDatasetName,
  type AnalyticsField,
  type AnalyticsOperator,
  type ListField,
  type UnknownField,
} from "#model/events/analytics.ts";
import type { Scalars } from "./context.ts";

/** The types of one dataset, which its nodes share. */
export interface DatasetTypes {
  /** Conditions on fields, and `AND` and `OR` of such. */
  readonly filter: GraphQl.GraphQLInputObjectType;
  readonly row: GraphQl.GraphQLObjectType;
  /** The first is by time; the others order rows of the same time. */
  readonly rowOrder: GraphQl.GraphQLEnumType;
  readonly group: GraphQl.GraphQLObjectType;
  readonly groupOrder: GraphQl.GraphQLEnumType;
}

export type Direction = "asc" | "desc";

/** The key of an order of groups. A measure is identified by kind and name, because its position depends on the query. */
export type GroupOrder = { readonly direction: Direction } & (
  | { readonly by: "count" }
  | { readonly by: { readonly dimension: string } }
  | { readonly by: { readonly kind: MeasureKind; readonly name: string } }
);

/** For fields that exist only because common queries request them. */
export const ALWAYS_NULL = "Always null: it is not measured.";

export const MEASURE_KINDS = ["sum", "avg", "quantiles", "uniq"] as const;
export type MeasureKind = (typeof MEASURE_KINDS)[number];

const PERCENTILES = [25, 50, 75, 90, 95, 99];

/** Columns by the names of a dataset's measures, percentiles among them. */
export function measuresOf(
  dataset: AnalyticsDataset,
): Readonly<Record<MeasureKind, Readonly<Record<string, { column: string; percentile?: number }>>>> {
  const plain = (columns: Readonly<Record<string, string>>) => mapValues(columns, (column) => ({ column }));
  const percentiles = Object.entries(dataset.quantiles).flatMap(([name, column]) =>
    PERCENTILES.map((percentile) => [`${name}P${percentile}`, { column, percentile }] as const),
  );
  return {
    sum: plain(dataset.sums),
    avg: plain(dataset.averages),
    quantiles: Object.fromEntries(percentiles),
    uniq: plain(dataset.uniques),
  };
}

function unmeasuredOf({ unmeasured }: AnalyticsDataset, kind: string): readonly string[] {
  const names = unmeasured?.[kind as "sum" | "avg" | "quantiles"] ?? [];
  return kind === "quantiles" ? names.flatMap((name) => PERCENTILES.map((percentile) => `${name}P${percentile}`)) : names;
}

export function datasetTypes(graphql: typeof GraphQl, scalars: Scalars, name: AnalyticsDatasetName): DatasetTypes {
  const dataset: AnalyticsDataset = ANALYTICS_DATASETS[name];
  const { GraphQLEnumType, GraphQLFloat, GraphQLObjectType } = graphql;
  const scalarOf = scalarsOf(graphql, scalars);
  const shown = Object.entries(dataset.fields).filter(([, field]) => !isList(field) && !("of" in field));
  const fields = mapValues(Object.fromEntries(shown), (field) => ({
    type: scalarOf(field),
    ...(field.kind === "unknown" ? { description: ALWAYS_NULL } : {}),
  }));
  const lists = Object.entries(dataset.fields).flatMap(([field, known]) =>
    isList(known) ? [[field, { type: entriesType(graphql, `${dataset.type}${field}`, known), description: ALWAYS_NULL }] as const] : [],
  );
  const objects = Object.entries(dataset.fields).flatMap(([field, known]) =>
    known.kind === "list" ? [[field, { type: objectsType(graphql, `${dataset.type}${field}`, known) }] as const] : [],
  );
  const measures = Object.entries(measuresOf(dataset)).flatMap(([kind, named]) => {
    // The number of rows that each read row represents.
    const also = kind === "avg" ? { sampleInterval: { type: GraphQLFloat } } : {};
    const unmeasured = Object.fromEntries(
      unmeasuredOf(dataset, kind).map((measure) => [measure, { type: GraphQLFloat, description: ALWAYS_NULL }]),
    );
    const numbers = { ...mapValues(named, () => ({ type: GraphQLFloat })), ...unmeasured, ...also };
    if (Object.keys(numbers).length === 0) return [];
    return [[kind, { type: new GraphQLObjectType({ name: `${dataset.type}${kind}`, fields: numbers }) }] as const];
  });
  const dimensions = new GraphQLObjectType({ name: `${dataset.type}Dimensions`, fields });
  return {
    filter: filterType(graphql, scalars, dataset),
    row: new GraphQLObjectType({
      name: `${dataset.type}Row`,
      description: dataset.description,
      fields: { ...fields, ...Object.fromEntries([...lists, ...objects]) },
    }),
    rowOrder: new GraphQLEnumType({ name: `${dataset.type}RowOrder`, values: bothWays(Object.keys(fields).map((name) => [name, name])) }),
    group: new GraphQLObjectType({
      name: `${dataset.type}AdaptiveGroup`,
      description: dataset.description,
      fields: { count: { type: GraphQLFloat }, dimensions: { type: dimensions }, ...Object.fromEntries(measures) },
    }),
    groupOrder: new GraphQLEnumType({ name: `${dataset.type}Order`, values: groupOrders(dataset, Object.keys(fields)) }),
  };
}

/** The key of an order of rows. */
export interface RowOrder {
  readonly by: string;
  readonly direction: Direction;
}

/** Values of an order in both directions, by the prefix of their names. */
export const bothWays = <T>(
  orders: readonly (readonly [string, T])[],
): Record<string, { value: { readonly by: T; readonly direction: Direction } }> =>
  Object.fromEntries(
    orders.flatMap(([name, by]) => [
      [`${name}_ASC`, { value: { by, direction: "asc" } }],
      [`${name}_DESC`, { value: { by, direction: "desc" } }],
    ]),
  );

const isList = (field: AnalyticsField): field is UnknownField & { readonly entries: readonly string[] } =>
  field.kind === "unknown" && field.entries !== undefined;

const entriesType = (
  { GraphQLList, GraphQLNonNull, GraphQLObjectType, GraphQLString }: typeof GraphQl,
  name: string,
  { entries }: { readonly entries: readonly string[] },
): GraphQl.GraphQLOutputType =>
  new GraphQLList(
    new GraphQLNonNull(
      new GraphQLObjectType({ name, fields: Object.fromEntries(entries.map((entry) => [entry, { type: GraphQLString }])) }),
    ),
  );

/** Numbers are counts of hits. */
const objectsType = (
  { GraphQLInt, GraphQLList, GraphQLNonNull, GraphQLObjectType, GraphQLString }: typeof GraphQl,
  name: string,
  { members }: ListField,
): GraphQl.GraphQLOutputType =>
  new GraphQLList(
    new GraphQLNonNull(
      new GraphQLObjectType({ name, fields: mapValues(members, (member) => ({ type: member === "count" ? GraphQLInt : GraphQLString })) }),
    ),
  );

function groupOrders(dataset: AnalyticsDataset, fields: readonly string[]): Record<string, { value: GroupOrder }> {
  const orders: [string, GroupOrder["by"]][] = [
    ["count", "count"],
    ...fields.map((dimension): [string, GroupOrder["by"]] => [dimension, { dimension }]),
  ];
  for (const [kind, named] of Object.entries(measuresOf(dataset)) as [MeasureKind, object][]) {
    for (const name of Object.keys(named)) orders.push([`${kind}_${name}`, { kind, name }]);
    // Groups are equal in unmeasured fields: the largest are the most useful ones.
    for (const name of unmeasuredOf(dataset, kind)) orders.push([`${kind}_${name}`, "count"]);
  }
  return bothWays(orders) as Record<string, { value: GroupOrder }>;
}

function filterType(graphql: typeof GraphQl, scalars: Scalars, dataset: AnalyticsDataset): GraphQl.GraphQLInputObjectType {
  const scalarOf = scalarsOf(graphql, scalars);
  const conditions = Object.entries(dataset.fields).flatMap(([name, field]) => conditionsOn(graphql, name, field.kind, scalarOf(field)));
  return filterOf(graphql, `${dataset.type}Filter`, conditions);
}

type NamedInput = readonly [string, GraphQl.GraphQLInputFieldConfig];

/** Every comparison with a field of this kind. */
export function conditionsOn(
  { GraphQLList, GraphQLNonNull }: typeof GraphQl,
  name: string,
  kind: AnalyticsField["kind"],
  scalar: GraphQl.GraphQLScalarType,
): readonly NamedInput[] {
  return Object.entries(ANALYTICS_OPERATORS[kind] as Readonly<Record<string, AnalyticsOperator>>).map(([suffix, operator]) => [
    `${name}${suffix}`,
    { type: operator === "in" || operator === "not_in" ? new GraphQLList(new GraphQLNonNull(scalar)) : scalar },
  ]);
}

/** Conditions, and `AND` and `OR` of such. */
export function filterOf(graphql: typeof GraphQl, name: string, conditions: readonly NamedInput[]): GraphQl.GraphQLInputObjectType {
  const { GraphQLInputObjectType, GraphQLList, GraphQLNonNull } = graphql;
  const filter: GraphQl.GraphQLInputObjectType = new GraphQLInputObjectType({
    name,
    fields: () => {
      const list = { type: new GraphQLList(new GraphQLNonNull(filter)) };
      return { AND: list, OR: list, ...Object.fromEntries(conditions) };
    },
  });
  return filter;
}

export const scalarsOf =
  ({ GraphQLBoolean, GraphQLInt, GraphQLString }: typeof GraphQl, scalars: Scalars) =>
  (field: AnalyticsField): GraphQl.GraphQLScalarType => {
    if (field.kind === "constant") return typeof field.value === "number" ? GraphQLInt : GraphQLString;
    if (field.kind === "unknown" || field.kind === "member" || field.kind === "list") return GraphQLString;
    const plain = {
      ...{ text: GraphQLString, keys: GraphQLString, values: GraphQLString },
      ...{ integer: GraphQLInt, negated: GraphQLInt, boolean: GraphQLBoolean },
      ...scalars,
    };
    return plain[field.kind];
  };

export const mapValues = <T, U>(values: Readonly<Record<string, T>>, work: (value: T) => U): Record<string, U> =>
  Object.fromEntries(Object.entries(values).map(([key, value]) => [key, work(value)]));
