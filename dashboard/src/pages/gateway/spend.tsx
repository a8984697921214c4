import { lazy, Suspense, useMemo } from "react";
import { groupsNode, type Scope, useGroups } from "../../api/analytics.ts";
import { useAddress } from "../../api/search.ts";
import { type TimeRange, useTimeRange } from "../../api/time-range.ts";
import { Choice } from "../../parts/choice.tsx";
import { List } from "../../parts/list.tsx";
import { Card, Chip, Empty, Failed, Loading } from "../../parts/page.tsx";
import { TimePicker } from "../../parts/time-picker.tsx";
import { count, money } from "../../parts/time.tsx";
import tools from "../../parts/tools.module.css";
import { costFormat, keysOf, MEASURES, type Measure, partsOf, type Part, type Spent } from "./spend-parts.ts";

const TimeChart = lazy(async () => ({ default: (await import("../../parts/time-chart.tsx")).TimeChart }));

const GROUPS_MAX = 10_000;
const CHIPS = ["model", "provider"] as const;

interface SpendProps {
  readonly scope: Scope;
  /** Undefined for all of the account. */
  readonly gateway: string | undefined;
}

/** Cost, tokens, requests and times by model, by provider, or by what applications say of themselves in metadata. */
export function Spend({ scope, gateway }: SpendProps) {
  const [search, go] = useAddress();
  const range = useTimeRange();
  const by = search["by"] ?? "model";
  const measure: Measure = MEASURES.find(({ id }) => id === search["show"]) ?? MEASURES[0];
  const filter = {
    ...(gateway === undefined ? {} : { gateway }),
    ...Object.fromEntries(CHIPS.flatMap((name) => (search[name] === undefined ? [] : [[name, search[name]]]))),
  };
  const isMetadata = by !== "model" && by !== "provider" && by !== "gateway";
  const dimension = isMetadata ? "part: metadataRaw" : `part: ${by}`;
  const sums = "count sum { cost tokensIn tokensOut cachedRequests erroredRequests durationMs }";
  const read = useGroups<"over" | "raw" | "quantiles", Spent["dimensions"]>(scope, {
    over: groupsNode("aiGatewayRequestsAdaptiveGroups", range, `${sums} dimensions { ts: ${range.dimension} ${dimension} }`, {
      filter,
      limit: GROUPS_MAX,
    }),
    raw: groupsNode("aiGatewayRequestsAdaptiveGroups", range, "count dimensions { part: metadataRaw }", {
      filter,
      order: "count_DESC",
      limit: 200,
    }),
    quantiles: groupsNode("aiGatewayRequestsAdaptiveGroups", range, "count quantiles { durationMsP50 durationMsP95 }", {
      filter,
      limit: 1,
    }),
  });
  const keys = useMemo(() => keysOf(read.data?.raw ?? []), [read.data]);
  const parts = useMemo(
    () => partsOf(read.data?.over ?? [], range, isMetadata ? by : undefined),
    [read.data, range.sinceMs, range.untilMs, range.stepMs, by],
  );
  const series = useMemo(() => seriesFor(parts, measure, range), [parts, measure]);
  const chips = CHIPS.filter((name) => search[name] !== undefined);
  return (
    <>
      <div className={tools["tools"]}>
        <TimePicker range={range} />
        <Choice
          label="Metric"
          isQuiet
          value={measure.id}
          options={MEASURES.map(({ id, title }) => [id, title] as const)}
          onChange={(show) => go({ show: show === "cost" ? undefined : show })}
        />
        <Choice
          label="By"
          isQuiet
          value={by}
          options={[
            ["model", "by model"],
            ["provider", "by provider"],
            ...(gateway === undefined ? [["gateway", "by gateway"] as const] : []),
            ...[...new Set([...keys, ...(isMetadata ? [by] : [])])].map((key) => [key, `by ${key}`] as const),
          ]}
          onChange={(value) => go({ by: value === "model" ? undefined : value })}
        />
        {chips.map((name) => (
          <Chip key={name} name={name} value={search[name] ?? ""} onRemove={() => go({ [name]: undefined })} />
        ))}
      </div>
      <Card title={`${measure.title} by ${by}`} aside={<Total parts={parts} quantiles={read.data?.quantiles[0]?.quantiles} />}>
        {read.error ? (
          <Failed error={read.error} onAgain={() => void read.refetch()} />
        ) : !read.data ? (
          <Loading />
        ) : parts.length === 0 ? (
          <Empty title="Nothing was asked of a model in this time">
            <p>Choose another time, or point an application at a gateway.</p>
          </Empty>
        ) : (
          <Suspense fallback={<Loading />}>
            <TimeChart
              label={`${measure.title} by ${by}`}
              range={range}
              series={series}
              format={measure.format}
              kind={measure.kind}
              onBrush={(since, until) => go({ since, until })}
              {...(measure.id === "cost" ? { empty: "These requests were free, or the price of their models is not known" } : {})}
            />
          </Suspense>
        )}
        {(read.data?.over.length ?? 0) >= GROUPS_MAX && (
          <p className={tools["quiet"]}>There are more combinations than are shown: choose a shorter time.</p>
        )}
      </Card>
      {parts.length > 0 && (
        <Card>
          <List<Part>
            label={`Spend by ${by}`}
            rows={parts}
            keyOf={({ name }) => name}
            columns={[
              {
                head: by.charAt(0).toUpperCase() + by.slice(1),
                width: "auto",
                cell: ({ name }) =>
                  isMetadata || by === "gateway" ? (
                    name
                  ) : (
                    <button
                      type="button"
                      className={tools["pick"]}
                      onClick={() => go({ [by]: name, by: by === "model" ? keys[0] : "model" })}
                    >
                      {name}
                    </button>
                  ),
              },
              { head: "Requests", width: "90px", isFigure: true, cell: ({ requests }) => count(requests) },
              { head: "Errors", width: "80px", isFigure: true, isMinor: true, cell: ({ errors }) => count(errors) },
              { head: "Cached", width: "80px", isFigure: true, isMinor: true, cell: ({ cached }) => count(cached) },
              {
                head: "Tokens in / out",
                width: "150px",
                isFigure: true,
                isMinor: true,
                cell: ({ tokensIn, tokensOut }) => `${count(tokensIn)} / ${count(tokensOut)}`,
              },
              {
                head: "Mean time",
                width: "90px",
                isFigure: true,
                isMinor: true,
                cell: ({ durationMs, requests }) => `${count(Math.round(durationMs / Math.max(requests, 1)))} ms`,
              },
              { head: "Cost", width: "90px", isFigure: true, cell: ({ cost }) => costFormat(cost) },
            ]}
          />
        </Card>
      )}
    </>
  );
}

function Total({
  parts,
  quantiles,
}: {
  readonly parts: readonly Part[];
  readonly quantiles: Readonly<Record<string, number>> | undefined;
}) {
  const [half = 0, most = 0] = [quantiles?.["durationMsP50"], quantiles?.["durationMsP95"]];
  return (
    <span className={tools["quiet"]}>
      <b className="num">{money(parts.reduce((sum, { cost }) => sum + cost, 0))}</b>
      {parts.length > 0 && `, half of the answers within ${count(Math.round(half))} ms, 95 % within ${count(Math.round(most))} ms`}
    </span>
  );
}

const COLOURS = ["--c3", "--c5", "--c2", "--c6", "--c1"] as const;

/** The largest parts, and the rest as one. */
function seriesFor(parts: readonly Part[], { of, kind }: Measure, range: TimeRange) {
  const largest = parts.toSorted((a, b) => of(b.over.total) - of(a.over.total));
  const shown = largest.slice(0, COLOURS.length).map(({ name, over }, i) => ({
    name,
    colour: COLOURS[i] ?? "--c4",
    values: over.steps.map(of),
  }));
  const rest = largest.slice(COLOURS.length);
  if (rest.length === 0 || kind === "lines") return shown;
  const length = Math.round((range.untilMs - range.sinceMs) / range.stepMs);
  const values = Array.from({ length }, (_, at) => rest.reduce((sum, { over }) => sum + (over.steps[at] ? of(over.steps[at]) : 0), 0));
  return [...shown, { name: `${count(rest.length)} others`, colour: "--c4", values }];
}
