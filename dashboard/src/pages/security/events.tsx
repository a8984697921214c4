import { Button } from "@mantine/core";
import { Link } from "@tanstack/react-router";
import { lazy, Suspense, useMemo } from "react";
import type { SecurityEvent } from "#model/events/security-event.ts";
import type { Zone } from "#model/zones/zone.ts";
import { useLiveList } from "../../api/live-list.ts";
import { groupsNode, useGroups } from "../../api/analytics.ts";
import { useAddress } from "../../api/search.ts";
import { type TimeRange, useTimeRange } from "../../api/time-range.ts";
import { LeftOut, List } from "../../parts/list.tsx";
import { Badge, Card, Chip, Empty, Failed, Loading, PageHead, type Tone } from "../../parts/page.tsx";
import { count, Time } from "../../parts/time.tsx";
import { TimePicker } from "../../parts/time-picker.tsx";
import tools from "../../parts/tools.module.css";
import { SearchField } from "../../parts/search-field.tsx";
import { ZoneGate } from "../start/zone-gate.tsx";
import { phaseTitle } from "./parts.ts";
import { sinceUntil } from "../traffic/since-until.ts";
import { actionSeries } from "./action-series.ts";
import { Tops } from "./tops.tsx";

const TimeChart = lazy(async () => ({ default: (await import("../../parts/time-chart.tsx")).TimeChart }));

export const EventsPage = () => <ZoneGate>{(zone) => <Events zone={zone} />}</ZoneGate>;

export const TONES: Readonly<Record<string, Tone>> = {
  block: "bad",
  log: "plain",
  skip: "good",
  managed_challenge: "warn",
  js_challenge: "warn",
  challenge: "warn",
};
const CHIPS = ["action", "rule_id", "client_ip", "country", "host", "path", "service"] as const;
const NAMES: Readonly<Record<(typeof CHIPS)[number], string>> = {
  action: "Action",
  rule_id: "Rule",
  client_ip: "Address",
  country: "Country",
  host: "Host",
  path: "Path",
  service: "Service",
};
/** The same filters, as analytics name them. */
const DIMENSIONS: Readonly<Record<(typeof CHIPS)[number] | "path.contains", string>> = {
  action: "action",
  rule_id: "ruleId",
  client_ip: "clientIP",
  country: "clientCountryName",
  host: "clientRequestHTTPHost",
  path: "clientRequestPath",
  service: "source",
  "path.contains": "clientRequestPath_like",
};
const LISTS = [
  ["rule_id", "Rules", "ruleId"],
  ["path", "Paths", "clientRequestPath"],
  ["client_ip", "Addresses", "clientIP"],
  ["country", "Countries", "clientCountryName"],
  ["host", "Hosts", "clientRequestHTTPHost"],
] as const;
const likeOf = (text: string): string => `%${text.replaceAll(/[%_\\]/g, String.raw`\$&`)}%`;

interface ChartProps {
  readonly zoneId: string;
  readonly range: TimeRange;
  readonly filter: object;
}

function EventsChart({ zoneId, range, filter }: ChartProps) {
  const [, go] = useAddress();
  const read = useGroups<"events", { readonly ts: string } & Readonly<Record<string, string>>>(
    { kind: "zones", id: zoneId },
    { events: groupsNode("firewallEventsAdaptiveByTimeGroups", range, `count dimensions { ts: ${range.dimension} action }`, { filter }) },
  );
  const series = useMemo(() => read.data && actionSeries(read.data.events, range), [read.data, range.sinceMs, range.untilMs, range.stepMs]);
  if (read.error) return <Failed error={read.error} onAgain={() => void read.refetch()} />;
  if (!series) return <Loading />;
  return (
    <Suspense fallback={<Loading />}>
      <TimeChart
        label="Security events by action"
        range={range}
        series={series}
        format={count}
        onBrush={(since, until) => go({ since, until })}
        height={170}
      />
    </Suspense>
  );
}

const keyOf = ({ id }: SecurityEvent): string => id;

function Events({ zone }: { readonly zone: Zone }) {
  const [search, go] = useAddress();
  const range = useTimeRange();
  const wanted = new URLSearchParams();
  for (const name of [...CHIPS, "path.contains"]) if (search[name] !== undefined) wanted.set(name, search[name]);
  // Only the usual time has no end: a chosen one shows what was there.
  const isTimed = search["time"] !== undefined || range.span === "";
  const { read, rows, leftOut } = useLiveList<SecurityEvent>({
    path: `/zones/${zone.id}/security/events`,
    event: "security_event",
    filter: wanted,
    only: [["per_page", "100"], ...sinceUntil(range)],
    mode: isTimed ? "still" : "followed",
    keyOf,
  });
  const chips = CHIPS.filter((name) => search[name] !== undefined);
  const filter = Object.fromEntries(
    ([...CHIPS, "path.contains"] as const).flatMap((name) => {
      const value = search[name];
      if (value === undefined) return [];
      return [[DIMENSIONS[name], name === "path.contains" ? likeOf(value) : value]];
    }),
  );
  const scope = { kind: "zones", id: zone.id } as const;
  const shownOf = (name: (typeof CHIPS)[number]): string =>
    (name === "rule_id" && read.data?.result.find(({ rule_id }) => rule_id === search[name])?.rule_description) || (search[name] ?? "");
  return (
    <>
      <PageHead title="Security events" lead="Actions that rules took. Drag over the chart to look closer, and open an event to see why.">
        <TimePicker range={range} />
      </PageHead>
      <div className={tools["tools"]}>
        <SearchField
          label="Search paths"
          placeholder="Part of a path"
          asked={search["path.contains"]}
          onAsk={(text) => go({ "path.contains": text }, { replace: true })}
        />
        {chips.map((name) => (
          <Chip key={name} name={NAMES[name]} value={shownOf(name)} onRemove={() => go({ [name]: undefined })} />
        ))}
        <LeftOut count={leftOut} of="event" />
      </div>
      <Card>
        <EventsChart zoneId={zone.id} range={range} filter={filter} />
      </Card>
      <Tops
        scope={scope}
        range={range}
        node="firewallEventsAdaptiveGroups"
        filter={filter}
        lists={LISTS}
        onPick={(name, value) => go({ [name]: value })}
      />
      <Card>
        {read.error ? (
          <Failed error={read.error} onAgain={() => void read.refetch()} />
        ) : !read.data ? (
          <Loading />
        ) : rows.length === 0 ? (
          <Empty title={chips.length > 0 ? "No event matches these filters" : "No rule has acted in this time"}>
            {chips.length > 0 && (
              <Button variant="default" onClick={() => go(Object.fromEntries(chips.map((name) => [name, undefined])))}>
                Remove all filters
              </Button>
            )}
          </Empty>
        ) : (
          <List<SecurityEvent>
            label="Security events"
            rows={rows}
            keyOf={keyOf}
            columns={[
              {
                head: "Time",
                width: "120px",
                cell: ({ occurred_at, id }) => (
                  <Link to="/zones/$zone/security/events/$event" params={{ zone: zone.name, event: id }} search={{ at: occurred_at }}>
                    <Time of={occurred_at} />
                  </Link>
                ),
              },
              {
                head: "Action",
                width: "110px",
                cell: ({ action }) => <Badge tone={TONES[action] ?? "plain"}>{action.replaceAll("_", " ")}</Badge>,
              },
              {
                head: "Rule",
                width: "25%",
                isLine: true,
                cell: ({ rule_description, rule_id, phase }) => (
                  <span title={rule_description || rule_id}>{rule_description || `Rule without a name (${phaseTitle(phase)})`}</span>
                ),
              },
              {
                head: "Request",
                width: "35%",
                isLine: true,
                cell: ({ method, host, path }) => <span title={`${method} ${host}${path}`}>{`${method} ${host}${path}`}</span>,
              },
              {
                head: "From",
                width: "16%",
                isMinor: true,
                isLine: true,
                cell: ({ client_ip, country }) => `${client_ip}${country === "" ? "" : ` (${country})`}`,
              },
            ]}
          />
        )}
      </Card>
    </>
  );
}
