import type { Group } from "../../api/analytics.ts";
import { seriesOf, type TimeRange } from "../../api/time-range.ts";
import type { Series } from "../../parts/time-chart.tsx";

/** Actions as charts stack and colour them, the gravest at the bottom. */
const ACTIONS = [
  { name: "block", colour: "--c1", actions: ["block"] },
  { name: "challenge", colour: "--c2", actions: ["managed_challenge", "js_challenge", "challenge"] },
  { name: "log", colour: "--c3", actions: ["log"] },
  { name: "skip", colour: "--c5", actions: ["skip"] },
  { name: "other", colour: "--c4", actions: [] },
] as const;

const nameOf = (action: string): string => ACTIONS.find(({ actions }) => (actions as readonly string[]).includes(action))?.name ?? "other";

/** Only those that occur. */
export function actionSeries(
  groups: readonly Group<{ readonly ts: string } & Readonly<Record<string, string>>>[],
  range: TimeRange,
): readonly Series[] {
  const values = seriesOf(
    groups,
    range,
    ({ dimensions }) => nameOf(dimensions["action"] ?? ""),
    (group) => group.count,
  );
  const series = ACTIONS.flatMap(({ name, colour }) => (values.has(name) ? [{ name, colour, values: values.get(name) ?? [] }] : []));
  return series.length > 0 ? series : [{ name: "block", colour: "--c1", values: [] }];
}
