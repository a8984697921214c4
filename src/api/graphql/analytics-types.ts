import type * as GraphQl from "graphql";
import {
  ANALYTICS_DATASETS,
  ANALYTICS_OPERATORS,
  type AnalyticsDataset,
  type AnalyticsDatasetName,
  type AnalyticsField,
} from "#model/analytics.ts";
import type { Scalars } from "./context.ts";

/** The types of one dataset, which its nodes share. */
export interface DatasetTypes {
  /** Conditions on fields, and `AND` and `OR` of such. */
  readonly filter: GraphQl.GraphQLInputObjectType;
  readonly row: GraphQl.GraphQLObjectType;
  readonly rowOrder: GraphQl.GraphQLEnumType;
  readonly group: GraphQl.GraphQLObjectType;
  readonly groupOrder: GraphQl.GraphQLEnumType;
}

export type Direction = "asc" | "desc";

/** What an order of groups is by. A measure is told by its kind and name, since its place is known only with the query. */
export type GroupOrder = { readonly direction: Direction } & (
  | { readonly by: "count" }
  | { readonly by: { readonly dimension: string } }
  | { readonly by: { readonly kind: MeasureKind; readonly name: string } }
);

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
  const fields = mapValues(dataset.fields, (field) => ({ type: scalarOf(field) }));
  const measures = Object.entries(measuresOf(dataset)).flatMap(([kind, named]) => {
    // How many rows each row that was read stands for.
    const also = kind === "avg" ? { sampleInterval: { type: GraphQLFloat } } : {};
    const unmeasured = Object.fromEntries(unmeasuredOf(dataset, kind).map((measure) => [measure, { type: GraphQLFloat }]));
    const numbers = { ...mapValues(named, () => ({ type: GraphQLFloat })), ...unmeasured, ...also };
    if (Object.keys(numbers).length === 0) return [];
    return [[kind, { type: new GraphQLObjectType({ name: `${dataset.type}${kind}`, fields: numbers }) }] as const];
  });
  const dimensions = new GraphQLObjectType({ name: `${dataset.type}Dimensions`, fields });
  return {
    filter: filterType(graphql, scalars, dataset),
    row: new GraphQLObjectType({ name: `${dataset.type}Row`, description: dataset.description, fields }),
    rowOrder: new GraphQLEnumType({
      name: `${dataset.type}RowOrder`,
      values: { datetime_ASC: { value: "asc" }, datetime_DESC: { value: "desc" } },
    }),
    group: new GraphQLObjectType({
      name: `${dataset.type}AdaptiveGroup`,
      description: dataset.description,
      fields: { count: { type: GraphQLFloat }, dimensions: { type: dimensions }, ...Object.fromEntries(measures) },
    }),
    groupOrder: new GraphQLEnumType({ name: `${dataset.type}Order`, values: groupOrders(dataset) }),
  };
}

function groupOrders(dataset: AnalyticsDataset): Record<string, { value: GroupOrder }> {
  const orders: [string, GroupOrder["by"]][] = [
    ["count", "count"],
    ...Object.keys(dataset.fields).map((dimension): [string, GroupOrder["by"]] => [dimension, { dimension }]),
  ];
  for (const [kind, named] of Object.entries(measuresOf(dataset)) as [MeasureKind, object][]) {
    for (const name of Object.keys(named)) orders.push([`${kind}_${name}`, { kind, name }]);
  }
  const both = orders.flatMap(([name, by]) =>
    (["asc", "desc"] as const).map((direction) => [`${name}_${direction.toUpperCase()}`, { value: { by, direction } }]),
  );
  return Object.fromEntries(both) as Record<string, { value: GroupOrder }>;
}

function filterType(graphql: typeof GraphQl, scalars: Scalars, dataset: AnalyticsDataset): GraphQl.GraphQLInputObjectType {
  const { GraphQLInputObjectType, GraphQLList, GraphQLNonNull } = graphql;
  const scalarOf = scalarsOf(graphql, scalars);
  const conditions = Object.entries(dataset.fields).flatMap(([name, field]) =>
    Object.entries(ANALYTICS_OPERATORS[field.kind]).map(([suffix, operator]) => {
      const scalar = scalarOf(field);
      return [
        `${name}${suffix}`,
        { type: operator === "in" || operator === "not_in" ? new GraphQLList(new GraphQLNonNull(scalar)) : scalar },
      ] as const;
    }),
  );
  const filter: GraphQl.GraphQLInputObjectType = new GraphQLInputObjectType({
    name: `${dataset.type}Filter`,
    fields: () => {
      const list = { type: new GraphQLList(new GraphQLNonNull(filter)) };
      return { AND: list, OR: list, ...Object.fromEntries(conditions) };
    },
  });
  return filter;
}

const scalarsOf =
  ({ GraphQLBoolean, GraphQLInt, GraphQLString }: typeof GraphQl, scalars: Scalars) =>
  (field: AnalyticsField): GraphQl.GraphQLScalarType => {
    if (field.kind === "constant") return typeof field.value === "number" ? GraphQLInt : GraphQLString;
    const plain = { text: GraphQLString, integer: GraphQLInt, boolean: GraphQLBoolean, ...scalars };
    return plain[field.kind];
  };

export const mapValues = <T, U>(values: Readonly<Record<string, T>>, work: (value: T) => U): Record<string, U> =>
  Object.fromEntries(Object.entries(values).map(([key, value]) => [key, work(value)]));
