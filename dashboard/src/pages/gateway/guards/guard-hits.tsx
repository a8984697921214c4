import { Link } from "@tanstack/react-router";
import type { GatewayLog } from "#model/gateways/gateway-log.ts";
import { useRead } from "../../../api/hooks.ts";
import { List } from "../../../parts/list.tsx";
import { Card, Empty, Failed, Loading } from "../../../parts/page.tsx";
import { Time } from "../../../parts/time.tsx";
import tools from "../../../parts/tools.module.css";
import { metadataWords } from "../spend-parts.ts";
import { FoundBadge } from "./found-badge.tsx";
import { foundWords } from "./found-words.ts";

const HITS_MAX = 20;

const useHits = (base: string, key: "dlp_action" | "guardrail_action") => {
  const filters = JSON.stringify([{ key, operator: "eq", value: ["FLAG", "BLOCK"] }]);
  const query = new URLSearchParams({ per_page: String(HITS_MAX), order_by: "created_at", order_by_direction: "desc", filters });
  return useRead<GatewayLog[]>(`${base}/logs?${query.toString()}`, { everyMs: 5000 });
};

/** Identifiers rise with the time. */
const latest = (logs: readonly GatewayLog[]): readonly GatewayLog[] =>
  [...new Map(logs.map((log) => [log.id, log])).values()].toSorted((a, b) => (a.id < b.id ? 1 : -1)).slice(0, HITS_MAX);

/** The last requests in which a policy or a guardrail found something; filters of the API must all match, so each has its list. */
export function GuardHits({ base, gateway }: { readonly base: string; readonly gateway: string }) {
  const data = useHits(base, "dlp_action");
  const hazards = useHits(base, "guardrail_action");
  const rows = data.data && hazards.data && latest([...data.data.result, ...hazards.data.result]);
  const again = (): void => void Promise.all([data.refetch(), hazards.refetch()]);
  const error = data.error ?? hazards.error;
  return (
    <Card title="Latest hits">
      {error ? (
        <Failed error={error} onAgain={again} />
      ) : !rows ? (
        <Loading />
      ) : rows.length === 0 ? (
        <Empty title="Nothing was found yet">
          <p>Requests with sensitive data or a hazard appear here.</p>
        </Empty>
      ) : (
        <List<GatewayLog>
          label="Latest hits"
          rows={rows}
          keyOf={({ id }) => id}
          columns={[
            {
              head: "Time",
              width: "130px",
              cell: ({ id, created_at }) => (
                <Link className={tools["link"]} to="/gateways/$gateway/requests" params={{ gateway }} search={{ log: id }}>
                  <Time of={created_at} />
                </Link>
              ),
            },
            { head: "Model", width: "auto", cell: ({ model, provider }) => `${model || "unknown"} (${provider})` },
            { head: "Found", width: "auto", cell: foundWords },
            { head: "Metadata", width: "auto", isMinor: true, cell: ({ metadata }) => metadataWords(metadata) },
            { head: "Then", width: "100px", cell: (log) => <FoundBadge log={log} /> },
          ]}
        />
      )}
    </Card>
  );
}
