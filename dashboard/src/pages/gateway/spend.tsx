import { useQuery } from "@tanstack/react-query";
import { graphql } from "../../api/client.ts";
import { secondsAgo } from "../../api/now.ts";
import { List } from "../../parts/list.tsx";
import { Card } from "../../parts/page.tsx";
import { count, money } from "../../parts/time.tsx";
import tools from "../../parts/tools.module.css";

const QUERY = `query ($account: string!, $gateway: string!, $since: Time!) { viewer { accounts(filter: { accountTag: $account }) {
  models: aiGatewayRequestsAdaptiveGroups(limit: 20, filter: { datetime_geq: $since, gateway: $gateway }, orderBy: [sum_cost_DESC]) {
    count sum { cost tokensIn tokensOut cachedRequests } dimensions { model provider }
  }
} } }`;

interface Group {
  readonly count: number;
  readonly sum: { readonly cost: number; readonly tokensIn: number; readonly tokensOut: number; readonly cachedRequests: number };
  readonly dimensions: { readonly model: string; readonly provider: string };
}
interface Answer {
  readonly viewer: { readonly accounts: readonly { readonly models: readonly Group[] }[] };
}

const DAY_SECONDS = 86_400;

/** The cost of a gateway's models in the last 24 hours. */
export function Spend({ accountId, gateway }: { readonly accountId: string; readonly gateway: string }) {
  const { data } = useQuery({
    queryKey: ["spend", accountId, gateway],
    queryFn: ({ signal }) => graphql<Answer>(QUERY, { account: accountId, gateway, since: secondsAgo(DAY_SECONDS) }, signal),
    refetchInterval: 30_000,
  });
  const groups = data?.viewer.accounts[0]?.models ?? [];
  return (
    <Card title="Spend in the last 24 hours" aside={<b className="num">{money(groups.reduce((sum, group) => sum + group.sum.cost, 0))}</b>}>
      {groups.length === 0 ? (
        <p className={tools["quiet"]}>Nothing was asked of a model in this time.</p>
      ) : (
        <List<Group>
          label="Spend by model"
          rows={groups}
          keyOf={({ dimensions }) => `${dimensions.provider} ${dimensions.model}`}
          columns={[
            { head: "Model", width: "auto", cell: ({ dimensions }) => `${dimensions.model || "unknown"} (${dimensions.provider})` },
            { head: "Requests", width: "90px", isFigure: true, cell: (group) => count(group.count) },
            { head: "From the cache", width: "120px", isFigure: true, isMinor: true, cell: ({ sum }) => count(sum.cachedRequests) },
            {
              head: "Tokens in / out",
              width: "140px",
              isFigure: true,
              isMinor: true,
              cell: ({ sum }) => `${count(sum.tokensIn)} / ${count(sum.tokensOut)}`,
            },
            { head: "Cost", width: "90px", isFigure: true, cell: ({ sum }) => money(sum.cost) },
          ]}
        />
      )}
    </Card>
  );
}
