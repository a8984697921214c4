import { Link } from "@tanstack/react-router";
import type { GatewayLog } from "#model/gateways/gateway-log.ts";
import { useRead } from "../../../api/hooks.ts";
import { List } from "../../../parts/list.tsx";
import { Badge, Card, Empty, Failed, Loading } from "../../../parts/page.tsx";
import { Time } from "../../../parts/time.tsx";
import tools from "../../../parts/tools.module.css";
import { metadataWords } from "../spend-parts.ts";

const FILTERS = JSON.stringify([{ key: "dlp_action", operator: "eq", value: ["FLAG", "BLOCK"] }]);

/** The last requests in which a policy found something. */
export function GuardHits({ base, gateway }: { readonly base: string; readonly gateway: string }) {
  const query = new URLSearchParams({ per_page: "20", order_by: "created_at", order_by_direction: "desc", filters: FILTERS });
  const read = useRead<GatewayLog[]>(`${base}/logs?${query.toString()}`, { everyMs: 5000 });
  return (
    <Card title="Latest hits">
      {read.error ? (
        <Failed error={read.error} onAgain={() => void read.refetch()} />
      ) : !read.data ? (
        <Loading />
      ) : read.data.result.length === 0 ? (
        <Empty title="Nothing was found yet">
          <p>Requests with sensitive data appear here. Blocks of guardrails are among the requests, as errors.</p>
        </Empty>
      ) : (
        <List<GatewayLog>
          label="Latest hits"
          rows={read.data.result}
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
            { head: "Metadata", width: "auto", isMinor: true, cell: ({ metadata }) => metadataWords(metadata) },
            {
              head: "Then",
              width: "100px",
              cell: ({ dlp_action: action }) => (
                <Badge tone={action === "BLOCK" ? "bad" : "warn"}>{action === "BLOCK" ? "blocked" : "flagged"}</Badge>
              ),
            },
          ]}
        />
      )}
    </Card>
  );
}
