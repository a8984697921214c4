import { Button, PasswordInput, TextInput } from "@mantine/core";
import type { UseQueryResult } from "@tanstack/react-query";
import { useState } from "react";
import type { Webhook } from "#model/events/notification.ts";
import type { Reply } from "../../../api/client.ts";
import { useWrite } from "../../../api/hooks.ts";
import { Confirm } from "../../../parts/dialogs/confirm.tsx";
import { FormDialog } from "../../../parts/dialogs/form-dialog.tsx";
import { Icon } from "../../../parts/icon.tsx";
import { List } from "../../../parts/list.tsx";
import { Card, Empty, Failed, Loading } from "../../../parts/page.tsx";
import { Time } from "../../../parts/time.tsx";

interface WebhooksProps {
  readonly base: string;
  readonly read: UseQueryResult<Reply<Webhook[]>>;
}

export function Webhooks({ base, read }: WebhooksProps) {
  const remove = useWrite<{ id: string }>(base);
  const [isAdding, setAdding] = useState(false);
  const [removing, setRemoving] = useState<Webhook>();
  return (
    <Card
      title="Webhooks"
      aside={
        <Button size="xs" variant="default" leftSection={<Icon name="plus" size={16} />} onClick={() => setAdding(true)}>
          Create a webhook
        </Button>
      }
    >
      {read.error ? (
        <Failed error={read.error} onAgain={() => void read.refetch()} />
      ) : !read.data ? (
        <Loading />
      ) : read.data.result.length === 0 ? (
        <Empty title="No webhooks yet">
          <p>An address that policies send a JSON message to, or a channel of Slack, Discord or Google Chat.</p>
        </Empty>
      ) : (
        <List<Webhook>
          label="Webhooks"
          rows={read.data.result}
          keyOf={({ id }) => id}
          columns={[
            { head: "Name", width: "auto", cell: ({ name }) => <b>{name}</b> },
            { head: "Address", width: "auto", cell: ({ url }) => <span className="mono">{url}</span> },
            { head: "Last success", width: "130px", isMinor: true, cell: ({ last_success }) => <Time of={last_success} /> },
            { head: "Last failure", width: "130px", isMinor: true, cell: ({ last_failure }) => <Time of={last_failure} /> },
            {
              head: "Action",
              width: "90px",
              cell: (webhook) => (
                <Button variant="default" size="compact-xs" onClick={() => setRemoving(webhook)}>
                  Delete
                </Button>
              ),
            },
          ]}
        />
      )}
      {isAdding && <CreateWebhook base={base} onClose={() => setAdding(false)} />}
      {removing && (
        <Confirm
          title={`Delete the webhook ${removing.name}?`}
          action="Delete the webhook"
          error={remove.error}
          isPending={remove.isPending}
          onClose={() => setRemoving(undefined)}
          onConfirm={() =>
            remove.mutate(
              { method: "DELETE", path: `${base}/destinations/webhooks/${removing.id}` },
              { onSuccess: () => setRemoving(undefined) },
            )
          }
        >
          Policies must not name it any more.
        </Confirm>
      )}
    </Card>
  );
}

function CreateWebhook({ base, onClose }: { readonly base: string; readonly onClose: () => void }) {
  const [name, setName] = useState("");
  const [url, setUrl] = useState("");
  const [secret, setSecret] = useState("");
  const write = useWrite<{ id: string }>(base);
  const submit = (): void => {
    const body = { name: name.trim(), url: url.trim(), ...(secret === "" ? {} : { secret }) };
    write.mutate({ method: "POST", path: `${base}/destinations/webhooks`, body }, { onSuccess: onClose });
  };
  return (
    <FormDialog
      title="Create a webhook"
      onClose={onClose}
      submit="Create the webhook"
      onSubmit={submit}
      isPending={write.isPending}
      error={write.error}
    >
      <TextInput label="Name" value={name} onChange={({ currentTarget }) => setName(currentTarget.value)} required data-autofocus />
      <TextInput
        label="Address"
        placeholder="https://hooks.example.com/…"
        value={url}
        onChange={({ currentTarget }) => setUrl(currentTarget.value)}
        spellCheck={false}
        required
      />
      <PasswordInput
        label="Secret"
        description="Optional. Messages are signed with it, so that the receiver knows where they are from."
        value={secret}
        onChange={({ currentTarget }) => setSecret(currentTarget.value)}
        autoComplete="off"
      />
    </FormDialog>
  );
}
