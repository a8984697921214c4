import type * as GraphQl from "graphql";
import {
  ANALYTICS_DATASETS,
  ANALYTICS_NODES,
  type AnalyticsDataset,
  type AnalyticsDatasetName,
  type AnalyticsGroup,
  type AnalyticsMeasure,
  type AnalyticsNode,
} from "#model/events/analytics.ts";
import { filtersOf } from "./analytics-filter.ts";
import {
  type DatasetTypes,
  datasetTypes,
  type GroupOrder,
  mapValues,
  MEASURE_KINDS,
  type MeasureKind,
  measuresOf,
  type RowOrder,
} from "./analytics-types.ts";
import type { FieldConfig, Scalars, ScopeSource } from "./context.ts";
import { limitOf, listOf, nodeArguments, type NodeArguments } from "./node-parts.ts";
import { overviewNode } from "./http-overview-node.ts";
import { totalsNode } from "./http-totals-node.ts";
import { inOrder, timeOrder } from "./row-order.ts";
import { sensitiveValuesNode } from "./sensitive-values-node.ts";
import { selectedFields } from "./selected-fields.ts";

/** The nodes of a zone or of an account, by their names. */
export function analyticsNodes(graphql: typeof GraphQl, scalars: Scalars): (scope: "zone" | "account") => Record<string, FieldConfig> {
  const types = new Map(
    (Object.keys(ANALYTICS_DATASETS) as AnalyticsDatasetName[]).map((name) => [name, datasetTypes(graphql, scalars, name)] as const),
  );
  const make: Readonly<Record<AnalyticsNode["kind"], (node: AnalyticsNode, types: DatasetTypes) => FieldConfig>> = {
    rows: (node, of) => rowsNode(graphql, node, of),
    groups: (node, of) => groupsNode(graphql, node, of),
    totals: totalsNode(graphql, scalars),
    overview: overviewNode(graphql, scalars),
    values: sensitiveValuesNode(graphql, scalars),
  };
  const nodes = ANALYTICS_NODES.map((node) => ({ node, config: make[node.kind](node, types.get(node.dataset)!) }));
  return (scope) =>
    Object.fromEntries(nodes.filter(({ node }) => node.scopes.includes(scope)).map(({ node, config }) => [node.name, config]));
}

function rowsNode(graphql: typeof GraphQl, { dataset: name }: AnalyticsNode, types: DatasetTypes): FieldConfig {
  const dataset: AnalyticsDataset = ANALYTICS_DATASETS[name];
  return {
    type: listOf(graphql, types.row),
    args: nodeArguments(graphql, types.filter, types.rowOrder),
    resolve: async ({ scope }: ScopeSource, args: NodeArguments, context, info) => {
      const [first = { by: "datetime", direction: "desc" }, ...others] = (args.orderBy ?? []) as readonly RowOrder[];
      const asked = selectedFields(info, null).filter((field) => Object.hasOwn(dataset.fields, field));
      // An order by time alone is finer than the times shown.
      const orders = others.length === 0 ? [] : [first, ...others];
      const query = {
        filters: filtersOf(dataset, args.filter ?? {}),
        fields: [...new Set([...asked, ...orders.map(({ by }) => by)])],
        direction: timeOrder(dataset, first),
        limit: limitOf(args),
      };
      const find = async () => inOrder(await context.req.control.analytics.rows(context.req.call, scope, name, query), orders);
      return context.inTurn(info, { scope, find, show: (row) => row });
    },
  };
}

interface Asked extends AnalyticsMeasure {
  readonly of: MeasureKind;
  readonly name: string;
}

function groupsNode(graphql: typeof GraphQl, { dataset: name }: AnalyticsNode, types: DatasetTypes): FieldConfig {
  const dataset: AnalyticsDataset = ANALYTICS_DATASETS[name];
  const known = measuresOf(dataset);
  const measure = (of: MeasureKind, measured: string): Asked => {
    const { column, percentile } = known[of][measured]!;
    return { of, name: measured, column, kind: percentile ?? (of === "avg" ? "average" : of === "uniq" ? "unique" : "sum") };
  };
  return {
    type: listOf(graphql, types.group),
    args: nodeArguments(graphql, types.filter, types.groupOrder),
    resolve: async ({ scope }: ScopeSource, args: NodeArguments, context, info) => {
      const measures = MEASURE_KINDS.flatMap((of) =>
        selectedFields(info, of).flatMap((selected) => (Object.hasOwn(known[of], selected) ? [measure(of, selected)] : [])),
      );
      const order = ((args.orderBy ?? []) as readonly GroupOrder[]).map(({ by, direction }) => {
        if (typeof by !== "object" || "dimension" in by) return { by, direction };
        let at = measures.findIndex((asked) => asked.of === by.kind && asked.name === by.name);
        if (at < 0) at = measures.push(measure(by.kind, by.name)) - 1;
        return { by: { measure: at }, direction };
      });
      const query = {
        filters: filtersOf(dataset, args.filter ?? {}),
        dimensions: selectedFields(info, "dimensions").filter((field) => Object.hasOwn(dataset.fields, field)),
        measures,
        order,
        limit: limitOf(args),
      };
      const show = ({ count, dimensions, measures: values, sampleInterval }: AnalyticsGroup): object => {
        const shown: Record<string, Record<string, number>> = mapValues(known, () => ({}));
        for (const [i, asked] of measures.entries()) shown[asked.of]![asked.name] = values[i] ?? 0;
        return { count, dimensions, ...shown, avg: { ...shown["avg"], sampleInterval: dataset.isWeighted ? null : sampleInterval } };
      };
      const find = () => context.req.control.analytics.groups(context.req.call, scope, name, query);
      return context.inTurn(info, { scope, find, show });
    },
  };
}
