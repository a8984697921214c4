import { useNavigate } from "@tanstack/react-router";
import { lazy, Suspense, useMemo } from "react";
import { type Group, groupsNode, type Scope, useGroups } from "../../api/analytics.ts";
import { useAddress } from "../../api/search.ts";
import { seriesOf, type TimeRange } from "../../api/time-range.ts";
import { Card, Failed, Loading } from "../../parts/page.tsx";
import type { Series } from "../../parts/time-chart.tsx";
import { bytes, count } from "../../parts/time.tsx";
import { actionSeries } from "../security/action-series.ts";
import { Tops } from "../security/tops.tsx";
import css from "./traffic.module.css";

const TimeChart = lazy(async () => ({ default: (await import("../../parts/time-chart.tsx")).TimeChart }));

type Stamped = { readonly ts: string } & Readonly<Record<string, string>>;
type Nodes = "requests" | "errors" | "events" | "latency" | "total";

const milliseconds = (value: number): string => (value < 10 ? `${value.toFixed(1)} ms` : `${count(Math.round(value))} ms`);
const percent = (value: number): string => `${Math.round(value)} %`;
const isFromCache = ({ dimensions }: Group<Stamped>): boolean =>
  ["hit", "stale", "updating", "revalidated"].includes(dimensions["cacheStatus"] ?? "");

/** Most responses with 403 are blocked attacks and not faults of the site. */
const errorKind = (status: number): string => (status === 403 ? "403" : status < 500 ? "Other 4xx" : "5xx");

/** The metrics of the chart. Each has a figure above the chart, which selects it. */
const PANELS = ["requests", "bandwidth", "cache", "errors", "attacks", "latency"] as const;
type Panel = (typeof PANELS)[number];

interface Shown {
  readonly title: string;
  readonly figure: string;
  readonly series: readonly Series[];
  readonly format: (value: number) => string;
  readonly kind: "bars" | "lines";
}

/** Requests, bytes, cache, errors, attacks and times of a zone, or of all zones of an account. */
export function Traffic({ scope, range }: { readonly scope: Scope; readonly range: TimeRange }) {
  const [{ show }, go] = useAddress();
  const panel: Panel = PANELS.find((one) => one === show) ?? "requests";
  const ts = `ts: ${range.dimension}`;
  const read = useGroups<Nodes, Stamped>(scope, {
    requests: groupsNode("httpRequestsAdaptiveGroups", range, `count sum { edgeResponseBytes } dimensions { ${ts} cacheStatus }`),
    errors: groupsNode("httpRequestsAdaptiveGroups", range, `count dimensions { ${ts} edgeResponseStatus }`, {
      filter: { edgeResponseStatus_geq: 400 },
    }),
    events: groupsNode("firewallEventsAdaptiveByTimeGroups", range, `count dimensions { ${ts} action }`),
    latency: groupsNode(
      "httpRequestsAdaptiveGroups",
      range,
      `count quantiles { edgeDurationMsP50 edgeDurationMsP95 } dimensions { ${ts} }`,
    ),
    total: groupsNode("httpRequestsAdaptiveGroups", range, `count quantiles { edgeDurationMsP50 }`, { limit: 1 }),
  });
  const panels = useMemo(() => read.data && panelsOf(read.data, range), [read.data, range.sinceMs, range.untilMs, range.stepMs]);
  if (read.error)
    return (
      <Card>
        <Failed error={read.error} onAgain={() => void read.refetch()} />
      </Card>
    );
  const shown = panels?.[panel];
  return (
    <section className={css["traffic"]} aria-label="Traffic over time">
      <div className={css["figures"]} role="group" aria-label="Metric of the chart">
        {PANELS.map((one) => (
          <button
            key={one}
            type="button"
            aria-pressed={one === panel}
            onClick={() => go({ show: one === "requests" ? undefined : one }, { replace: true })}
          >
            <span>{TITLES[one]}</span>
            <b className="num">{panels?.[one].figure ?? "…"}</b>
          </button>
        ))}
      </div>
      <div className={css["chart"]}>
        {shown ? (
          <Suspense fallback={<div className={css["space"]} />}>
            <TimeChart
              label={shown.title}
              range={range}
              series={shown.series}
              format={shown.format}
              kind={shown.kind}
              onBrush={(since, until) => go({ since, until })}
            />
          </Suspense>
        ) : (
          <div className={css["space"]}>
            <Loading />
          </div>
        )}
      </div>
    </section>
  );
}

const TITLES: Readonly<Record<Panel, string>> = {
  requests: "Requests",
  bandwidth: "Bandwidth",
  errors: "4xx and 5xx",
  cache: "From the cache",
  attacks: "Security events",
  latency: "Time to answer",
};

function panelsOf(found: Readonly<Record<Nodes, readonly Group<Stamped>[]>>, range: TimeRange): Readonly<Record<Panel, Shown>> {
  const { requests = [], errors = [], events = [], latency = [], total = [] } = found;
  const all = requests.reduce((sum, group) => sum + group.count, 0);
  const failed = errors.reduce((sum, group) => sum + group.count, 0);
  const places = [
    { name: "From the cache", colour: "--c5" },
    { name: "From the origin or the edge", colour: "--c3" },
  ] as const;
  const by = (value: (group: Group<Stamped>) => number): readonly Series[] => {
    const values = seriesOf(requests, range, (group) => places[isFromCache(group) ? 0 : 1].name, value);
    return places.map(({ name, colour }) => ({ name, colour, values: values.get(name) ?? [] }));
  };
  const statuses = seriesOf(
    errors,
    range,
    ({ dimensions }) => errorKind(Number(dimensions["edgeResponseStatus"])),
    (group) => group.count,
  );
  const quantile = (name: string): readonly number[] =>
    seriesOf(
      latency,
      range,
      () => name,
      ({ quantiles }) => quantiles?.[name] ?? 0,
    ).get(name) ?? [];
  const sent = (group: Group<Stamped>): number => group.sum?.["edgeResponseBytes"] ?? 0;
  const [fromCache, fromElsewhere] = by((group) => group.count);
  const cacheShares = (fromCache?.values ?? []).map((hits, at) => (100 * hits) / Math.max(1, hits + (fromElsewhere?.values[at] ?? 0)));
  const cached = requests.filter(isFromCache).reduce((sum, group) => sum + group.count, 0);
  const half = total[0]?.quantiles?.["edgeDurationMsP50"];
  return {
    requests: {
      title: "Requests",
      figure: count(all),
      series: by((group) => group.count),
      format: count,
      kind: "bars",
    },
    bandwidth: {
      title: "Bytes sent to visitors",
      figure: bytes(requests.reduce((sum, group) => sum + sent(group), 0)),
      series: by(sent),
      format: bytes,
      kind: "bars",
    },
    cache: {
      title: "Requests answered from the cache, in percent",
      figure: all === 0 ? "–" : percent((cached / all) * 100),
      series: [{ name: "From the cache", colour: "--c5", values: cacheShares }],
      format: percent,
      kind: "lines",
    },
    errors: {
      title: "Responses with 4xx and 5xx",
      figure: all === 0 ? "0" : `${count(failed)} (${Math.round((failed / all) * 100)} %)`,
      series: [
        { name: "403", colour: "--c4", values: statuses.get("403") ?? [] },
        { name: "Other 4xx", colour: "--c2", values: statuses.get("Other 4xx") ?? [] },
        { name: "5xx", colour: "--c1", values: statuses.get("5xx") ?? [] },
      ],
      format: count,
      kind: "bars",
    },
    attacks: {
      title: "Security events by action",
      figure: count(events.reduce((sum, group) => sum + group.count, 0)),
      series: actionSeries(events, range),
      format: count,
      kind: "bars",
    },
    latency: {
      title: "Milliseconds to answer",
      figure: half === undefined || all === 0 ? "–" : milliseconds(half),
      series: [
        { name: "Half of all within", colour: "--c3", values: quantile("edgeDurationMsP50") },
        { name: "95 % within", colour: "--c6", values: quantile("edgeDurationMsP95") },
      ],
      format: milliseconds,
      kind: "lines",
    },
  };
}

const REQUEST_LISTS = [
  ["path", "Paths", "clientRequestPath"],
  ["status", "Statuses", "edgeResponseStatus"],
  ["country", "Countries", "clientCountryName"],
  ["client_ip", "Addresses", "clientIP"],
] as const;

const EVENT_LISTS = [
  ["rule_id", "Rules", "ruleId"],
  ["path", "Paths", "clientRequestPath"],
  ["country", "Countries", "clientCountryName"],
  ["client_ip", "Addresses", "clientIP"],
] as const;

/** The most frequent values of what the chart of a zone shows; one click leads to those requests or events. */
export function TrafficTops({ scope, range, zone }: { readonly scope: Scope; readonly range: TimeRange; readonly zone: string }) {
  const [{ show, time, since, until }] = useAddress();
  const navigate = useNavigate();
  const isEvents = show === "attacks";
  const filter = show === "errors" ? { edgeResponseStatus_geq: 400 } : {};
  return (
    <Tops
      scope={scope}
      range={range}
      node={isEvents ? "firewallEventsAdaptiveGroups" : "httpRequestsAdaptiveGroups"}
      filter={filter}
      lists={isEvents ? EVENT_LISTS : REQUEST_LISTS}
      onPick={(name, value) =>
        void navigate({
          to: isEvents ? "/zones/$zone/security/events" : "/zones/$zone/traffic",
          params: { zone },
          search: { [name]: value, ...(range.span === "" ? { since, until } : { time: time ?? "24h" }) } as never,
        })
      }
    />
  );
}
