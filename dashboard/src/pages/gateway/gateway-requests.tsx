import type { GatewayLog } from "#model/gateways/gateway-log.ts";
import { useRead } from "../../api/hooks.ts";
import { useAddress } from "../../api/search.ts";
import { Choice } from "../../parts/choice.tsx";
import { List } from "../../parts/list.tsx";
import { Badge, Card, Empty, Failed, Loading } from "../../parts/page.tsx";
import { count, money, Time } from "../../parts/time.tsx";
import tools from "../../parts/tools.module.css";
import { SearchField } from "../../parts/search-field.tsx";
import { GatewayFrame } from "./gateway.tsx";
import { FoundBadge } from "./guards/found-badge.tsx";
import { metadataWords } from "./spend-parts.ts";
import { LogDetail } from "./log-detail.tsx";

/** Filters of the API with their values: the action of protection. */
const FOUND = [
  ["", "All requests"],
  ["dlp_action.BLOCK", "Sensitive data blocked"],
  ["dlp_action.FLAG", "Sensitive data flagged"],
  ["guardrail_action.BLOCK", "Hazards blocked"],
  ["guardrail_action.FLAG", "Hazards flagged"],
] as const;

export const GatewayRequestsPage = () => <GatewayFrame>{(base) => <Requests base={base} />}</GatewayFrame>;

function Requests({ base }: { readonly base: string }) {
  const [{ search, found = "", log: opened }, go] = useAddress();
  const query = new URLSearchParams({ per_page: "50", order_by: "created_at", order_by_direction: "desc" });
  if (search !== undefined) query.set("search", search);
  const [key, value] = found.split(".");
  if (FOUND.some(([id]) => id !== "" && id === found)) query.set("filters", JSON.stringify([{ key, operator: "eq", value: [value] }]));
  const logs = useRead<GatewayLog[]>(`${base}/logs?${query.toString()}`, { everyMs: 5000, keepsPrevious: true });
  const isFiltered = search !== undefined || found !== "";
  return (
    <>
      <div className={tools["tools"]}>
        <SearchField
          label="Search requests"
          placeholder="Model, provider, path or metadata"
          asked={search}
          onAsk={(text) => go({ search: text }, { replace: true })}
        />
        <Choice
          label="Protection"
          isQuiet
          value={found}
          options={FOUND}
          onChange={(next) => go({ found: next || undefined }, { replace: true })}
        />
      </div>
      <Card>
        {logs.error ? (
          <Failed error={logs.error} onAgain={() => void logs.refetch()} />
        ) : !logs.data ? (
          <Loading />
        ) : logs.data.result.length === 0 ? (
          <Empty title={isFiltered ? "No request matches" : "No request yet"}>
            {!isFiltered && <p>Point an application here: its address is under Connect and settings.</p>}
          </Empty>
        ) : (
          <List<GatewayLog>
            label="Requests of the gateway"
            rows={logs.data.result}
            keyOf={(log) => log.id}
            columns={[
              {
                head: "Time",
                width: "120px",
                cell: (log) => (
                  <button type="button" className={tools["pick"]} onClick={() => go({ log: log.id })} title={log.id}>
                    <Time of={log.created_at} />
                  </button>
                ),
              },
              { head: "Model", width: "auto", cell: ({ model, provider }) => `${model || "unknown"} (${provider})` },
              {
                head: "Metadata",
                width: "auto",
                isMinor: true,
                cell: ({ metadata }) => <span className={tools["quiet"]}>{metadataWords(metadata)}</span>,
              },
              {
                head: "Status",
                width: "70px",
                cell: ({ status_code, success }) => <Badge tone={success ? "good" : "bad"}>{status_code}</Badge>,
              },
              { head: "Protection", width: "90px", cell: (log) => <FoundBadge log={log} /> },
              {
                head: "Tokens",
                width: "90px",
                isFigure: true,
                isMinor: true,
                cell: ({ tokens_in, tokens_out }) => `${count(tokens_in ?? 0)} / ${count(tokens_out ?? 0)}`,
              },
              { head: "Cost", width: "80px", isFigure: true, cell: ({ cost }) => (cost === null ? "–" : money(cost)) },
              { head: "ms", width: "60px", isFigure: true, isMinor: true, cell: ({ duration }) => count(duration) },
            ]}
          />
        )}
      </Card>
      {opened !== undefined && <LogDetail path={`${base}/logs/${opened}`} onClose={() => go({ log: undefined }, { replace: true })} />}
    </>
  );
}
