import { Button } from "@mantine/core";
import type { Session } from "#model/access/session.ts";
import { useRead, useWrite } from "../../api/hooks.ts";
import { List } from "../../parts/list.tsx";
import { Badge, Card, Failed, Loading, PageHead } from "../../parts/page.tsx";
import { Time } from "../../parts/time.tsx";
import { AccountTabs } from "./account-tabs.tsx";

export function SessionsPage() {
  const read = useRead<Session[]>("/user/sessions");
  const end = useWrite<{ id: string }>("/user/sessions");
  return (
    <>
      <PageHead
        title="Account"
        lead="Browsers that you are signed in with. A session ends after 12 hours without use, and after 7 days in any case."
      />
      <AccountTabs />
      <Card title="Sessions">
        {read.error ? (
          <Failed error={read.error} onAgain={() => void read.refetch()} />
        ) : !read.data ? (
          <Loading />
        ) : (
          <List<Session>
            label="Sessions"
            rows={read.data.result}
            keyOf={({ id }) => id}
            columns={[
              {
                head: "Browser",
                width: "auto",
                cell: ({ label, current }) => (
                  <>
                    {label || "Unnamed browser or program"} {current && <Badge tone="accent">this one</Badge>}
                  </>
                ),
              },
              { head: "Signed in by", width: "120px", isMinor: true, cell: ({ signed_in_with }) => signed_in_with },
              { head: "Address", width: "160px", isMinor: true, cell: ({ ip }) => <span className="mono">{ip}</span> },
              { head: "Last used", width: "130px", cell: ({ last_seen_on }) => <Time of={last_seen_on} /> },
              {
                head: "Action",
                width: "90px",
                cell: ({ id, current }) =>
                  !current && (
                    <Button
                      variant="default"
                      size="compact-xs"
                      onClick={() => end.mutate({ method: "DELETE", path: `/user/sessions/${id}` })}
                    >
                      Sign out
                    </Button>
                  ),
              },
            ]}
          />
        )}
      </Card>
    </>
  );
}
