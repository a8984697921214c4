import { Button } from "@mantine/core";
import { useState } from "react";
import type { AccountMember } from "#model/access/account-member.ts";
import { useAccount, useRead } from "../../api/hooks.ts";
import { useAdding } from "../../api/search.ts";
import { Icon } from "../../parts/icon.tsx";
import { List } from "../../parts/list.tsx";
import { Badge, Card, Failed, Loading, PageHead } from "../../parts/page.tsx";
import { AccountTabs } from "./account-tabs.tsx";
import { EditMember } from "./edit-member.tsx";
import { Invite } from "./invite.tsx";

export function MembersPage() {
  const account = useAccount();
  const [isInviting, setInviting] = useAdding();
  const [editing, setEditing] = useState<AccountMember>();
  const read = useRead<AccountMember[]>(account && `/accounts/${account.id}/members?per_page=50`);
  return (
    <>
      <PageHead title="Account" lead="The members of this account and their roles.">
        <Button leftSection={<Icon name="plus" size={16} />} onClick={() => setInviting(true)}>
          Invite
        </Button>
      </PageHead>
      <AccountTabs />
      <Card title="Members">
        {read.error ? (
          <Failed error={read.error} onAgain={() => void read.refetch()} />
        ) : !read.data ? (
          <Loading />
        ) : (
          <List<AccountMember>
            label="Members"
            rows={read.data.result}
            keyOf={({ id }) => id}
            columns={[
              { head: "E-mail", width: "auto", cell: ({ email }) => email },
              {
                head: "Name",
                width: "auto",
                isMinor: true,
                cell: ({ user }) => [user.first_name, user.last_name].filter(Boolean).join(" "),
              },
              { head: "Roles", width: "auto", cell: ({ roles }) => roles.map(({ name }) => name).join(", ") },
              {
                head: "Status",
                width: "110px",
                cell: ({ status }) => <Badge tone={status === "accepted" ? "good" : "warn"}>{status}</Badge>,
              },
              {
                head: "Action",
                width: "90px",
                cell: (member) => (
                  <Button variant="default" size="compact-xs" onClick={() => setEditing(member)} aria-label={`Change ${member.email}`}>
                    Change
                  </Button>
                ),
              },
            ]}
          />
        )}
      </Card>
      {isInviting && account && <Invite base={`/accounts/${account.id}`} onClose={() => setInviting(false)} />}
      {editing && account && <EditMember base={`/accounts/${account.id}`} member={editing} onClose={() => setEditing(undefined)} />}
    </>
  );
}
