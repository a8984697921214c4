import { Button, PasswordInput } from "@mantine/core";
import { type FormEvent, useRef } from "react";
import type { Session } from "#model/access/session.ts";
import { ApiError } from "../../api/client.ts";
import { useRead, useWrite } from "../../api/hooks.ts";
import { List } from "../../parts/list.tsx";
import { Badge, Card, Failed, Fault, Loading, Notice, PageHead } from "../../parts/page.tsx";
import { Time } from "../../parts/time.tsx";
import tools from "../../parts/tools.module.css";
import { AccountTabs } from "./account-tabs.tsx";
import { OneTimeCodes } from "./one-time-codes.tsx";

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
                    {label || "A program"} {current && <Badge tone="accent">this one</Badge>}
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
      <Password />
      <OneTimeCodes />
    </>
  );
}

function Password() {
  const change = useWrite<{ sessions_ended: number }>("/user/sessions");
  const form = useRef<HTMLFormElement>(null);
  const submit = (event: FormEvent<HTMLFormElement>): void => {
    event.preventDefault();
    const fields = new FormData(event.currentTarget);
    const body = { current_password: String(fields.get("current")), password: String(fields.get("new")) };
    change.mutate({ method: "PUT", path: "/user/password", body }, { onSuccess: () => form.current?.reset() });
  };
  const faults = change.error instanceof ApiError ? change.error.byField() : {};
  return (
    <Card title="Password">
      <form className={tools["form"]} onSubmit={submit} ref={form}>
        <div className={tools["two"]}>
          <PasswordInput
            label="Current password"
            name="current"
            autoComplete="current-password"
            required
            error={faults["current_password"]?.message}
          />
          <PasswordInput
            label="New password"
            name="new"
            autoComplete="new-password"
            minLength={12}
            required
            error={faults["password"]?.message}
          />
        </div>
        {change.error && !faults["current_password"] && !faults["password"] && (
          <Notice tone="bad">
            <Fault error={change.error} />
          </Notice>
        )}
        {change.data && (
          <Notice tone="good">The password is changed; {change.data.result.sessions_ended} other sessions have ended.</Notice>
        )}
        <div className={tools["row"]}>
          <Button type="submit" loading={change.isPending} loaderProps={{ type: "dots" }}>
            Change the password
          </Button>
        </div>
      </form>
    </Card>
  );
}
