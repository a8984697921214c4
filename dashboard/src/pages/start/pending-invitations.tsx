import { Button } from "@mantine/core";
import { useMutation, useQueryClient } from "@tanstack/react-query";
import type { Membership } from "#model/access/membership.ts";
import { api } from "../../api/client.ts";
import { useRead } from "../../api/hooks.ts";
import { Card, Fault, Notice } from "../../parts/page.tsx";
import tools from "../../parts/tools.module.css";

/** Accounts that have invited a user who is signed in. Shows nothing without one. */
export function PendingInvitations() {
  const client = useQueryClient();
  const read = useRead<Membership[]>("/memberships?status=pending&per_page=50");
  const decide = useMutation({
    mutationFn: ({ id, status }: { id: string; status: "accepted" | "rejected" }) => api("PUT", `/memberships/${id}`, { status }),
    // Zones, accounts and permissions may all be others.
    onSuccess: () => client.invalidateQueries(),
  });
  if (read.data === undefined || read.data.result.length === 0) return null;
  return (
    <Card title="Invitations">
      <div className={tools["stack"]}>
        {read.data.result.map(({ id, account, roles }) => (
          <div key={id} className={tools["between"]}>
            <span>
              <b>{account.name}</b> invites you as {roles.join(", ")}.
            </span>
            <div className={tools["row"]}>
              <Button
                variant="default"
                size="xs"
                aria-label={`Decline ${account.name}`}
                onClick={() => decide.mutate({ id, status: "rejected" })}
              >
                Decline
              </Button>
              <Button
                size="xs"
                aria-label={`Join ${account.name}`}
                loading={decide.isPending}
                loaderProps={{ type: "dots" }}
                onClick={() => decide.mutate({ id, status: "accepted" })}
              >
                Join
              </Button>
            </div>
          </div>
        ))}
        {decide.error && (
          <Notice tone="bad">
            <Fault error={decide.error} />
          </Notice>
        )}
      </div>
    </Card>
  );
}
