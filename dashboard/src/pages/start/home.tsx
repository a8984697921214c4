import { Link } from "@tanstack/react-router";
import { useQuery } from "@tanstack/react-query";
import { graphql } from "../../api/client.ts";
import { useAccount, useRead } from "../../api/hooks.ts";
import { secondsAgo } from "../../api/now.ts";
import { useAddress } from "../../api/search.ts";
import { Choice } from "../../parts/choice.tsx";
import { Card, Empty, Failed, Loading, PageHead } from "../../parts/page.tsx";
import { bytes, count, money } from "../../parts/time.tsx";
import type { Zone } from "#model/zones/zone.ts";
import tools from "../../parts/tools.module.css";
import { Attention } from "./attention.tsx";
import { Checklist } from "./checklist.tsx";
import { Health } from "./health.tsx";
import css from "./home.module.css";

const SPANS = [
  ["1h", "Last hour"],
  ["24h", "Last 24 hours"],
  ["7d", "Last 7 days"],
] as const;
const HOURS: Readonly<Record<string, number>> = { "1h": 1, "24h": 24, "7d": 168 };

const QUERY = `query ($account: string!, $since: Time!) {
  viewer { accounts(filter: { accountTag: $account }) {
    all: httpRequestsAdaptiveGroups(limit: 1, filter: { datetime_geq: $since }) { count sum { edgeResponseBytes } }
    cached: httpRequestsAdaptiveGroups(limit: 1, filter: { datetime_geq: $since, cacheStatus: "HIT" }) { count }
    threats: firewallEventsAdaptiveGroups(limit: 10, filter: { datetime_geq: $since }) { count }
    dns: dnsAnalyticsAdaptiveGroups(limit: 1, filter: { datetime_geq: $since }) { count }
    models: aiGatewayRequestsAdaptiveGroups(limit: 1, filter: { datetime_geq: $since }) { count sum { cost } }
  } }
}`;

interface Groups {
  readonly count: number;
  readonly sum?: { readonly edgeResponseBytes?: number; readonly cost?: number };
}
interface Answer {
  readonly viewer: { readonly accounts: readonly Readonly<Record<"all" | "cached" | "threats" | "dns" | "models", readonly Groups[]>>[] };
}

export function HomePage() {
  const account = useAccount();
  const [{ time = "24h" }, go] = useAddress();
  const zones = useRead<Zone[]>("/zones?per_page=50&order=name");
  const newest = zones.data?.result.toSorted((a, b) => (a.created_on < b.created_on ? 1 : -1))[0];
  return (
    <>
      <PageHead title="Home" lead={account?.name}>
        <Choice label="Time" isQuiet value={time} options={SPANS} onChange={(value) => go({ time: value })} />
      </PageHead>
      {account && <Figures account={account.id} time={time} />}
      <div className={tools["wide"]}>
        <div>
          <Card title="What needs you">{account && <Attention account={account.id} zones={zones.data?.result} />}</Card>
          <Card title="This server">
            <Health />
          </Card>
        </div>
        <div>
          <Card
            title={newest ? `First steps with ${newest.name}` : "First steps"}
            aside={
              newest && (
                <Link to="/zones/$zone" params={{ zone: newest.name }} className={tools["link"]}>
                  Open
                </Link>
              )
            }
          >
            {zones.error ? (
              <Failed error={zones.error} onAgain={() => void zones.refetch()} />
            ) : !zones.data ? (
              <Loading />
            ) : newest ? (
              <Checklist zone={newest} />
            ) : (
              <Empty title="Put a site behind the edge">
                <p>Add a domain; its records, certificate and protection follow step by step.</p>
                <Link to="/zones" search={{ add: "1" }} className={tools["link"]}>
                  Add a zone
                </Link>
              </Empty>
            )}
          </Card>
        </div>
      </div>
    </>
  );
}

function Figures({ account, time }: { readonly account: string; readonly time: string }) {
  const { data, error } = useQuery({
    queryKey: ["home", account, time],
    queryFn: ({ signal }) => {
      const since = secondsAgo((HOURS[time] ?? 24) * 3600);
      return graphql<Answer>(QUERY, { account, since }, signal);
    },
    refetchInterval: 60_000,
  });
  const found = data?.viewer.accounts[0];
  const of = (name: keyof NonNullable<typeof found>): number => found?.[name].reduce((sum, group) => sum + group.count, 0) ?? 0;
  const requests = of("all");
  const figures = [
    ["Requests", count(requests)],
    ["Security events", count(of("threats"))],
    ["From the cache", requests === 0 ? "–" : `${Math.round((of("cached") / requests) * 100)} %`],
    ["Sent to visitors", bytes(found?.all[0]?.sum?.edgeResponseBytes ?? 0)],
    ["DNS queries", count(of("dns"))],
    ["Spent on models", money(found?.models[0]?.sum?.cost ?? 0)],
  ] as const;
  return (
    <dl className={css["figures"]} aria-label="Figures" title={error?.message}>
      {figures.map(([name, value]) => (
        <div key={name}>
          <dt>{name}</dt>
          <dd className="num">{data ? value : error ? "?" : "…"}</dd>
        </div>
      ))}
    </dl>
  );
}
