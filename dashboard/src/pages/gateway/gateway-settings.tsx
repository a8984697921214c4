import { Button, Switch } from "@mantine/core";
import { useNavigate } from "@tanstack/react-router";
import { useState } from "react";
import type { Gateway } from "#model/gateways/gateway.ts";
import { useWrite } from "../../api/hooks.ts";
import { Confirm } from "../../parts/dialogs/confirm.tsx";
import { Card, Fault, Notice } from "../../parts/page.tsx";
import tools from "../../parts/tools.module.css";
import { CreateToken } from "../account/create-token.tsx";
import { Connect } from "./connect/connect.tsx";
import { GatewayFrame } from "./gateway.tsx";
import { GatewayLimits } from "./gateway-limits.tsx";

export const GatewaySettingsPage = () => <GatewayFrame>{(base, gateway) => <Settings base={base} gateway={gateway} />}</GatewayFrame>;

function Settings({ base, gateway }: { readonly base: string; readonly gateway: Gateway }) {
  const write = useWrite<Gateway>(base);
  const remove = useWrite<Gateway>(base.slice(0, base.lastIndexOf("/")));
  const navigate = useNavigate();
  const [isCreating, setCreating] = useState(false);
  const [isRemoving, setRemoving] = useState(false);
  const { cache_invalidate_on_update, cache_ttl, collect_logs, rate_limiting_interval, rate_limiting_limit, authentication } = gateway;
  const turn = (change: Partial<Gateway>): void => {
    const kept = { cache_invalidate_on_update, cache_ttl, collect_logs, rate_limiting_interval, rate_limiting_limit, authentication };
    write.mutate({ method: "PUT", path: base, body: { ...kept, ...change } });
  };
  return (
    <div className={tools["wide"]}>
      <div>
        <Connect base={base} gateway={gateway} />
      </div>
      <div>
        <Card title="Access">
          <div className={tools["stack"]}>
            <Switch
              label="Authenticated Gateway"
              description="Every request needs a token with AI Gateway Run, in the header cf-aig-authorization."
              checked={authentication ?? false}
              disabled={write.isPending}
              onChange={({ currentTarget }) => turn({ authentication: currentTarget.checked })}
            />
            <Switch
              label="Keep requests"
              description="Each request with its prompt, answer, tokens and cost."
              checked={collect_logs}
              disabled={write.isPending}
              onChange={({ currentTarget }) => turn({ collect_logs: currentTarget.checked })}
            />
            {write.error && (
              <Notice tone="bad">
                <Fault error={write.error} />
              </Notice>
            )}
            <div className={tools["row"]}>
              <Button variant="default" onClick={() => setCreating(true)}>
                Create a token
              </Button>
            </div>
          </div>
        </Card>
        <GatewayLimits base={base} gateway={gateway} />
        <Card
          title="Delete"
          aside={
            <Button variant="subtle" color="red" onClick={() => setRemoving(true)}>
              Delete the gateway
            </Button>
          }
        >
          <p className={tools["hint"]}>With its logs, and for good.</p>
        </Card>
      </div>
      {isRemoving && (
        <Confirm
          title={`Delete the gateway ${gateway.id}?`}
          action="Delete the gateway"
          typed={gateway.id}
          error={remove.error}
          isPending={remove.isPending}
          onClose={() => setRemoving(false)}
          onConfirm={() => remove.mutate({ method: "DELETE", path: base }, { onSuccess: () => void navigate({ to: "/gateways" }) })}
        >
          Its logs, routes, datasets and keys of providers go with it. Applications that use its address get an error.
        </Confirm>
      )}
      {isCreating && <CreateToken onClose={() => setCreating(false)} preset={["AI Gateway Run"]} name={`Gateway ${gateway.id}`} />}
    </div>
  );
}
