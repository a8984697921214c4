import { Button, TextInput } from "@mantine/core";
import { Link, useNavigate } from "@tanstack/react-router";
import { useState } from "react";
import type { Gateway } from "#model/gateways/gateway.ts";
import { useAccount, useRead, useWrite } from "../../api/hooks.ts";
import { useAdding } from "../../api/search.ts";
import { FormDialog } from "../../parts/dialogs/form-dialog.tsx";
import { Icon } from "../../parts/icon.tsx";
import { List } from "../../parts/list.tsx";
import { Badge, Card, Empty, Failed, Fault, Loading, PageHead } from "../../parts/page.tsx";
import { Time } from "../../parts/time.tsx";
import { Spend } from "./spend.tsx";

const FIRST = {
  cache_invalidate_on_update: true,
  cache_ttl: 0,
  collect_logs: true,
  rate_limiting_interval: null,
  rate_limiting_limit: null,
  authentication: true,
};

export function GatewaysPage() {
  const account = useAccount();
  const path = account && `/accounts/${account.id}/ai-gateway/gateways`;
  const read = useRead<Gateway[]>(path && `${path}?per_page=50`);
  const [isAdding, setAdding] = useAdding();
  return (
    <>
      <PageHead title="AI gateway" lead="Applications reach model providers through a gateway, which logs, caches, limits and protects.">
        <Button leftSection={<Icon name="plus" size={16} />} onClick={() => setAdding(true)}>
          Create a gateway
        </Button>
      </PageHead>
      <Card title="Gateways">
        {read.error ? (
          <Failed error={read.error} onAgain={() => void read.refetch()} />
        ) : !read.data ? (
          <Loading />
        ) : read.data.result.length === 0 ? (
          <Empty title="No gateways yet">
            <p>Create one, then change the base URL of an application; nothing else changes there.</p>
          </Empty>
        ) : (
          <List<Gateway>
            label="Gateways"
            rows={read.data.result}
            keyOf={({ id }) => id}
            columns={[
              {
                head: "Name",
                width: "auto",
                cell: ({ id }) => (
                  <Link to="/gateways/$gateway" params={{ gateway: id }}>
                    {id}
                  </Link>
                ),
              },
              {
                head: "Access",
                width: "150px",
                cell: ({ authentication }) => (
                  <Badge tone={authentication ? "good" : "warn"}>{authentication ? "by token" : "open to all"}</Badge>
                ),
              },
              { head: "Logs", width: "80px", isMinor: true, cell: ({ collect_logs }) => (collect_logs ? "kept" : "off") },
              { head: "Created", width: "90px", isMinor: true, cell: ({ created_at }) => <Time of={created_at} as="day" /> },
            ]}
          />
        )}
      </Card>
      {account && read.data && read.data.result.length > 0 && <Spend scope={{ kind: "accounts", id: account.id }} gateway={undefined} />}
      {isAdding && path !== undefined && <CreateGateway path={path} onClose={() => setAdding(false)} />}
    </>
  );
}

function CreateGateway({ path, onClose }: { readonly path: string; readonly onClose: () => void }) {
  const navigate = useNavigate();
  const [id, setId] = useState("");
  const write = useWrite<Gateway>(path);
  const submit = (): void => {
    write.mutate(
      { method: "POST", path, body: { id, ...FIRST } },
      { onSuccess: ({ result }) => void navigate({ to: "/gateways/$gateway", params: { gateway: result.id } }) },
    );
  };
  return (
    <FormDialog title="Create a gateway" onClose={onClose} submit="Create" onSubmit={submit} isPending={write.isPending}>
      <TextInput
        label="Name"
        description="It stands in the address: letters, digits, - and _."
        placeholder="support-bot"
        value={id}
        onChange={({ currentTarget }) => setId(currentTarget.value)}
        error={write.error && <Fault error={write.error} />}
        required
        data-autofocus
      />
    </FormDialog>
  );
}
