import { Button, Switch } from "@mantine/core";
import { useParams } from "@tanstack/react-router";
import { useState } from "react";
import type { Gateway } from "#model/gateways/gateway.ts";
import type { GatewayLog } from "#model/gateways/gateway-log.ts";
import { useAccount, useRead, useWrite } from "../../api/hooks.ts";
import { CopyBlock } from "../../parts/copy-block.tsx";
import { List } from "../../parts/list.tsx";
import { Badge, Card, Empty, Failed, Fault, Loading, Notice, PageHead } from "../../parts/page.tsx";
import { count, money, Time } from "../../parts/time.tsx";
import tools from "../../parts/tools.module.css";
import { CreateToken } from "../account/create-token.tsx";
import { LogDetail } from "./log-detail.tsx";
import { Spend } from "./spend.tsx";

export function GatewayPage() {
  const { gateway: id } = useParams({ strict: false }) as { gateway: string };
  const account = useAccount();
  const base = account && `/accounts/${account.id}/ai-gateway/gateways/${id}`;
  const read = useRead<Gateway>(base);
  const logs = useRead<GatewayLog[]>(base && `${base}/logs?per_page=50&order_by=created_at&order_by_direction=desc`, { everyMs: 5000 });
  const url = useRead<string>(base && `${base}/url/openai`);
  const write = useWrite<Gateway>(base ?? "");
  const [opened, setOpened] = useState<string>();
  const [isCreating, setCreating] = useState(false);
  const gateway = read.data?.result;
  const turn = (authentication: boolean): void => {
    if (!gateway || base === undefined) return;
    const { cache_invalidate_on_update, cache_ttl, collect_logs, rate_limiting_interval, rate_limiting_limit } = gateway;
    const kept = { cache_invalidate_on_update, cache_ttl, collect_logs, rate_limiting_interval, rate_limiting_limit };
    write.mutate({ method: "PUT", path: base, body: { ...kept, authentication } });
  };
  if (read.error) return <Failed error={read.error} onAgain={() => void read.refetch()} />;
  const address = url.data?.result ?? "";
  return (
    <>
      <PageHead
        title={id}
        lead={gateway?.authentication === false ? "Open to everybody who reaches it." : "Only requests with a token pass."}
      >
        <Button variant="default" onClick={() => setCreating(true)}>
          Create a token
        </Button>
      </PageHead>
      {account && <Spend accountId={account.id} gateway={id} />}
      <div className={tools["wide"]}>
        <div>
          <Card title="Requests">
            {logs.error ? (
              <Failed error={logs.error} onAgain={() => void logs.refetch()} />
            ) : !logs.data ? (
              <Loading />
            ) : logs.data.result.length === 0 ? (
              <Empty title="No request yet">
                <p>Point an application here: the address is on this page.</p>
              </Empty>
            ) : (
              <List<GatewayLog>
                label="Requests of the gateway"
                rows={logs.data.result}
                keyOf={(log) => log.id}
                columns={[
                  {
                    head: "Time",
                    width: "84px",
                    cell: (log) => (
                      <button
                        type="button"
                        className={tools["pick"]}
                        onClick={() => setOpened(log.id)}
                        aria-label={`Open the request of ${log.created_at}`}
                      >
                        <Time of={log.created_at} as="exact" />
                      </button>
                    ),
                  },
                  { head: "Model", width: "auto", cell: ({ model, provider }) => `${model || "unknown"} (${provider})` },
                  {
                    head: "Status",
                    width: "70px",
                    cell: ({ status_code, success }) => <Badge tone={success ? "good" : "bad"}>{status_code}</Badge>,
                  },
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
        </div>
        <div>
          <Card title="Access">
            <div className={tools["stack"]}>
              <Switch
                label="Authenticated Gateway"
                description="Every request needs a token with AI Gateway Run, in the header svc-aig-authorization."
                checked={gateway?.authentication ?? false}
                disabled={!gateway || write.isPending}
                onChange={({ currentTarget }) => turn(currentTarget.checked)}
              />
              {write.error && (
                <Notice tone="bad">
                  <Fault error={write.error} />
                </Notice>
              )}
            </div>
          </Card>
          <Card title="Use it">
            <div className={tools["stack"]}>
              <p className={tools["hint"]}>The base URL of OpenAI's SDK:</p>
              <CopyBlock label="the base URL" text={address} />
              <CopyBlock
                label="the example in JavaScript"
                text={`import OpenAI from "openai";\nconst client = new OpenAI({\n  baseURL: "${address}",\n  defaultHeaders: { "svc-aig-authorization": "Bearer " + process.env.GATEWAY_TOKEN },\n});`}
              />
              <CopyBlock
                label="the example in Python"
                text={`from openai import OpenAI\nclient = OpenAI(\n  base_url="${address}",\n  default_headers={"svc-aig-authorization": f"Bearer {os.environ['GATEWAY_TOKEN']}"},\n)`}
              />
            </div>
          </Card>
        </div>
      </div>
      {opened !== undefined && base !== undefined && <LogDetail path={`${base}/logs/${opened}`} onClose={() => setOpened(undefined)} />}
      {isCreating && <CreateToken onClose={() => setCreating(false)} preset={["AI Gateway Run"]} name={`Gateway ${id}`} />}
    </>
  );
}
