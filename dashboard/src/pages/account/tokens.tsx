import { Button } from "@mantine/core";
import { useState } from "react";
import type { Token } from "#model/access/token.ts";
import { useAccount, useRead, useWrite } from "../../api/hooks.ts";
import { useAdding } from "../../api/search.ts";
import { Confirm } from "../../parts/dialogs/confirm.tsx";
import { Icon } from "../../parts/icon.tsx";
import { List } from "../../parts/list.tsx";
import { Badge, Card, Failed, Loading, PageHead } from "../../parts/page.tsx";
import { Time } from "../../parts/time.tsx";
import tools from "../../parts/tools.module.css";
import { AccountTabs } from "./account-tabs.tsx";
import { CreateToken } from "./create-token.tsx";
import { addressWords, TokenAddresses } from "./token-addresses.tsx";

export function TokensPage() {
  const account = useAccount();
  const [isAdding, setAdding] = useAdding();
  return (
    <>
      <PageHead title="Account" lead="Tokens let programs call the API, each with no more than it needs.">
        <Button leftSection={<Icon name="plus" size={16} />} onClick={() => setAdding(true)}>
          Create a token
        </Button>
      </PageHead>
      <AccountTabs />
      <Tokens title="Your tokens" base="/user/tokens" />
      {account && <Tokens title="Tokens of the account" base={`/accounts/${account.id}/tokens`} isLeftOutIfEmpty />}
      {isAdding && <CreateToken onClose={() => setAdding(false)} />}
    </>
  );
}

interface TokensProps {
  readonly title: string;
  readonly base: string;
  /** True where most people have none, and some may not see them. */
  readonly isLeftOutIfEmpty?: boolean;
}

function Tokens({ title, base, isLeftOutIfEmpty = false }: TokensProps) {
  const read = useRead<Token[]>(`${base}?per_page=50&include_expired=true`);
  const remove = useWrite<{ id: string }>(base);
  const [removing, setRemoving] = useState<Token>();
  const [limiting, setLimiting] = useState<Token>();
  if (isLeftOutIfEmpty && (read.data?.result ?? []).length === 0) return null;
  return (
    <>
      <Card title={title}>
        {read.error ? (
          <Failed error={read.error} onAgain={() => void read.refetch()} />
        ) : !read.data ? (
          <Loading />
        ) : (
          <List<Token>
            label={title}
            rows={read.data.result}
            keyOf={({ id }) => id}
            columns={[
              { head: "Name", width: "auto", cell: ({ name }) => <b>{name}</b> },
              { head: "May", width: "auto", isMinor: true, cell: ({ policies }) => permissionsOf(policies) },
              { head: "From", width: "180px", isMinor: true, cell: ({ condition }) => addressWords(condition) },
              {
                head: "Status",
                width: "100px",
                cell: ({ status }) => <Badge tone={status === "active" ? "good" : "warn"}>{status}</Badge>,
              },
              {
                head: "Until",
                width: "90px",
                isMinor: true,
                cell: ({ expires_on }) => (expires_on === undefined ? "no end" : <Time of={expires_on} as="day" />),
              },
              {
                head: "Actions",
                width: "180px",
                cell: (token) => (
                  <span className={tools["row"]}>
                    <Button variant="default" size="compact-xs" onClick={() => setLimiting(token)}>
                      Addresses
                    </Button>
                    <Button variant="default" size="compact-xs" onClick={() => setRemoving(token)}>
                      Delete
                    </Button>
                  </span>
                ),
              },
            ]}
          />
        )}
      </Card>
      {limiting && <TokenAddresses base={base} token={limiting} onClose={() => setLimiting(undefined)} />}
      {removing && (
        <Confirm
          title={`Delete the token ${removing.name}?`}
          action="Delete the token"
          error={remove.error}
          isPending={remove.isPending}
          onClose={() => setRemoving(undefined)}
          onConfirm={() => remove.mutate({ method: "DELETE", path: `${base}/${removing.id}` }, { onSuccess: () => setRemoving(undefined) })}
        >
          Programs that use it are refused from this moment on, and sessions that it signed in end.
        </Confirm>
      )}
    </>
  );
}

const SHOWN_MAX = 3;

function permissionsOf(policies: Token["policies"]): string {
  const names = [
    ...new Set(
      policies.filter(({ effect }) => effect === "allow").flatMap(({ permission_groups }) => permission_groups.map(({ name }) => name)),
    ),
  ];
  return names.length <= SHOWN_MAX ? names.join(", ") : `${names.slice(0, SHOWN_MAX).join(", ")} and ${names.length - SHOWN_MAX} more`;
}
