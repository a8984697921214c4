import { Link, useNavigate } from "@tanstack/react-router";
import { groupsNode, type Scope, useGroups } from "../../api/analytics.ts";
import { useAccount, useRead } from "../../api/hooks.ts";
import { useAddress } from "../../api/search.ts";
import { type TimeRange, useTimeRange } from "../../api/time-range.ts";
import { List } from "../../parts/list.tsx";
import { Card, Empty, Failed, Loading, PageHead } from "../../parts/page.tsx";
import { shownName } from "../../api/names.ts";
import { TimePicker } from "../../parts/time-picker.tsx";
import { count, money } from "../../parts/time.tsx";
import type { Zone } from "#model/zones/zone.ts";
import tools from "../../parts/tools.module.css";
import { Traffic } from "../traffic/traffic.tsx";
import { Attention } from "./attention.tsx";
import { Checklist } from "./checklist.tsx";
import { Health } from "./health.tsx";
import { PendingInvitations } from "./pending-invitations.tsx";

export function HomePage() {
  const account = useAccount();
  const range = useTimeRange();
  const zones = useRead<Zone[]>("/zones?per_page=50&order=name");
  const newest = zones.data?.result.toSorted((a, b) => (a.created_on < b.created_on ? 1 : -1))[0];
  const scope = account && ({ kind: "accounts", id: account.id } as const);
  // Without a zone the first step is what the page is for, so it stands before everything else.
  const isNew = zones.data?.result.length === 0;
  const steps = (
    <Card title={newest ? `First steps with ${shownName(newest.name)}` : "First steps"}>
      {zones.error ? (
        <Failed error={zones.error} onAgain={() => void zones.refetch()} />
      ) : !zones.data ? (
        <Loading />
      ) : newest ? (
        <Checklist zone={newest} />
      ) : (
        <Empty title="Put a site behind the edge">
          <p>Add a domain; its records, certificate and protection follow step by step.</p>
          <Link to="/zones" search={{ add: "1" }} className={tools["button"]}>
            Add a zone
          </Link>
        </Empty>
      )}
    </Card>
  );
  return (
    <>
      <PageHead title="Home" lead={account?.name}>
        <TimePicker range={range} />
      </PageHead>
      <PendingInvitations />
      {scope && newest && <Traffic scope={scope} range={range} />}
      <div className={tools["wide"]}>
        <div>
          {isNew && steps}
          <Card title="Needs attention">{account && <Attention account={account.id} />}</Card>
          {scope && newest && <Busiest scope={scope} range={range} zones={zones.data?.result ?? []} />}
          {scope && <Models scope={scope} range={range} />}
        </div>
        <div>
          {!isNew && steps}
          <Card title="This server">
            <Health />
          </Card>
        </div>
      </div>
    </>
  );
}

interface FiguresProps {
  readonly scope: Scope;
  readonly range: TimeRange;
}

interface Row {
  readonly zone: Zone;
  readonly requests: number;
  readonly events: number;
  readonly queries: number;
}

/** Each zone's figures; a click leads to its overview of the same time. */
function Busiest({ scope, range, zones }: FiguresProps & { readonly zones: readonly Zone[] }) {
  const [{ time, since, until }] = useAddress();
  const fields = "count dimensions { zoneTag }";
  const { data } = useGroups<"requests" | "events" | "queries", { readonly zoneTag: string }>(scope, {
    requests: groupsNode("httpRequestsAdaptiveGroups", range, fields, { order: "count_DESC", limit: 50 }),
    events: groupsNode("firewallEventsAdaptiveGroups", range, fields, { order: "count_DESC", limit: 50 }),
    queries: groupsNode("dnsAnalyticsAdaptiveGroups", range, fields, { order: "count_DESC", limit: 50 }),
  });
  const of = (name: "requests" | "events" | "queries", id: string): number =>
    data?.[name].find(({ dimensions }) => dimensions.zoneTag === id)?.count ?? 0;
  // Figures that could not be read are no zeros.
  const shown = (value: number): string => (data ? count(value) : "–");
  const rows = zones
    .map((zone): Row => ({ zone, requests: of("requests", zone.id), events: of("events", zone.id), queries: of("queries", zone.id) }))
    .toSorted((a, b) => b.requests - a.requests || b.queries - a.queries)
    .slice(0, 6);
  return (
    <Card title="Zones">
      <List<Row>
        label="Zones by requests"
        rows={rows}
        keyOf={({ zone }) => zone.id}
        columns={[
          {
            head: "Zone",
            width: "auto",
            cell: ({ zone }) => (
              <Link to="/zones/$zone" params={{ zone: zone.name }} search={{ time, since, until } as never}>
                {shownName(zone.name)}
              </Link>
            ),
          },
          { head: "Requests", width: "90px", isFigure: true, cell: ({ requests }) => shown(requests) },
          { head: "Security events", width: "120px", isFigure: true, isMinor: true, cell: ({ events }) => shown(events) },
          { head: "DNS queries", width: "100px", isFigure: true, isMinor: true, cell: ({ queries }) => shown(queries) },
        ]}
      />
    </Card>
  );
}

interface Used {
  readonly model: string;
  readonly gateway: string;
}

/** Cost of models. A click opens the gateway that sent the requests. */
function Models({ scope, range }: FiguresProps) {
  const navigate = useNavigate();
  const [{ time, since, until }] = useAddress();
  const { data } = useGroups<"models", Used>(scope, {
    models: groupsNode("aiGatewayRequestsAdaptiveGroups", range, "count sum { cost } dimensions { model gateway }", {
      order: "sum_cost_DESC",
      limit: 6,
    }),
  });
  const models = data?.models ?? [];
  if (models.length === 0) return null;
  return (
    <Card title="Spent on models" aside={<b className="num">{money(models.reduce((sum, one) => sum + (one.sum?.["cost"] ?? 0), 0))}</b>}>
      <List
        label="Spend by model"
        rows={models}
        keyOf={({ dimensions }) => `${dimensions.gateway} ${dimensions.model}`}
        columns={[
          {
            head: "Model",
            width: "auto",
            cell: ({ dimensions: { model, gateway } }) => (
              <button
                type="button"
                className={tools["pick"]}
                onClick={() =>
                  void navigate({
                    to: "/gateways/$gateway",
                    params: { gateway },
                    search: { model, time: time ?? "24h", since, until } as never,
                  })
                }
              >
                {model || "unknown"}
              </button>
            ),
          },
          { head: "Gateway", width: "120px", isMinor: true, cell: ({ dimensions }) => dimensions.gateway },
          { head: "Requests", width: "90px", isFigure: true, cell: (one) => count(one.count) },
          { head: "Cost", width: "90px", isFigure: true, cell: ({ sum }) => money(sum?.["cost"] ?? 0) },
        ]}
      />
    </Card>
  );
}
