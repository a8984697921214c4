import { Button } from "@mantine/core";
import { useState } from "react";
import type { NotificationPolicy, Webhook } from "#model/events/notification.ts";
import { useAccount, useRead, useWrite } from "../../../api/hooks.ts";
import { Confirm } from "../../../parts/dialogs/confirm.tsx";
import { Icon } from "../../../parts/icon.tsx";
import { List } from "../../../parts/list.tsx";
import { Badge, Card, Empty, Failed, Fault, Loading, Notice, PageHead } from "../../../parts/page.tsx";
import { AccountTabs } from "../account-tabs.tsx";
import { CreatePolicy } from "./create-policy.tsx";
import { SentNotifications } from "./sent.tsx";
import { Webhooks } from "./webhooks.tsx";

/** Names of alert types, by product. */
export type AvailableAlerts = Readonly<Record<string, readonly { type: string; display_name: string; description: string }[]>>;

export function NotificationsPage() {
  const account = useAccount();
  return (
    <>
      <PageHead title="Account" lead="Policies send an e-mail or call a webhook when something happens." />
      <AccountTabs />
      {account ? <Notifications base={`/accounts/${account.id}/alerting/v3`} /> : <Loading />}
    </>
  );
}

function Notifications({ base }: { readonly base: string }) {
  const policies = useRead<NotificationPolicy[]>(`${base}/policies`);
  const webhooks = useRead<Webhook[]>(`${base}/destinations/webhooks`);
  const types = useRead<AvailableAlerts>(`${base}/available_alerts`);
  const change = useWrite<{ id: string }>(base);
  const [isAdding, setAdding] = useState(false);
  const [removing, setRemoving] = useState<NotificationPolicy>();
  const [tested, setTested] = useState<string>();
  const names = new Map(Object.values(types.data?.result ?? {}).flatMap((of) => of.map((one) => [one.type, one.display_name])));
  const hooks = webhooks.data?.result ?? [];
  const test = (policy: NotificationPolicy): void =>
    change.mutate({ method: "POST", path: `${base}/policies/${policy.id}/test` }, { onSuccess: () => setTested(policy.name) });
  return (
    <>
      {change.error && removing === undefined && (
        <Notice tone="bad">
          <Fault error={change.error} />
        </Notice>
      )}
      {tested !== undefined && <Notice tone="good">{`A test of ${tested} is on its way. The list below shows whether it arrived.`}</Notice>}
      <Card
        title="Policies"
        aside={
          <Button size="xs" leftSection={<Icon name="plus" size={16} />} onClick={() => setAdding(true)}>
            Create a policy
          </Button>
        }
      >
        {policies.error ? (
          <Failed error={policies.error} onAgain={() => void policies.refetch()} />
        ) : !policies.data ? (
          <Loading />
        ) : policies.data.result.length === 0 ? (
          <Empty title="No policies yet">
            <p>A policy says which alerts are sent, and to whom.</p>
          </Empty>
        ) : (
          <List<NotificationPolicy>
            label="Policies"
            rows={policies.data.result}
            keyOf={({ id }) => id}
            columns={[
              { head: "Name", width: "auto", cell: ({ name }) => <b>{name}</b> },
              { head: "Alert", width: "auto", cell: ({ alert_type }) => names.get(alert_type) ?? alert_type },
              { head: "To", width: "auto", isMinor: true, cell: ({ mechanisms }) => recipientsOf(mechanisms, hooks) },
              {
                head: "Status",
                width: "80px",
                cell: ({ enabled }) => <Badge tone={enabled ? "good" : "plain"}>{enabled ? "on" : "off"}</Badge>,
              },
              {
                head: "Action",
                width: "230px",
                cell: (policy) => (
                  <Button.Group>
                    <Button variant="default" size="compact-xs" onClick={() => test(policy)}>
                      Send a test
                    </Button>
                    <Button
                      variant="default"
                      size="compact-xs"
                      onClick={() =>
                        change.mutate({ method: "PUT", path: `${base}/policies/${policy.id}`, body: { enabled: !policy.enabled } })
                      }
                    >
                      {policy.enabled ? "Turn off" : "Turn on"}
                    </Button>
                    <Button variant="default" size="compact-xs" onClick={() => setRemoving(policy)}>
                      Delete
                    </Button>
                  </Button.Group>
                ),
              },
            ]}
          />
        )}
      </Card>
      <Webhooks base={base} read={webhooks} />
      <SentNotifications base={base} names={names} />
      {isAdding && types.data && <CreatePolicy base={base} types={types.data.result} webhooks={hooks} onClose={() => setAdding(false)} />}
      {removing && (
        <Confirm
          title={`Delete the policy ${removing.name}?`}
          action="Delete the policy"
          error={change.error}
          isPending={change.isPending}
          onClose={() => setRemoving(undefined)}
          onConfirm={() =>
            change.mutate({ method: "DELETE", path: `${base}/policies/${removing.id}` }, { onSuccess: () => setRemoving(undefined) })
          }
        >
          Its alerts are not sent any more, and those that wait are deleted.
        </Confirm>
      )}
    </>
  );
}

function recipientsOf({ email = [], webhooks = [] }: NotificationPolicy["mechanisms"], known: readonly Webhook[]): string {
  const names = webhooks.map(({ id }) => known.find((one) => one.id === id)?.name ?? id);
  return [...email.map(({ id }) => id), ...names].join(", ");
}
