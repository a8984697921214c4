import { Button, Switch } from "@mantine/core";
import { useState } from "react";
import type { DlpProfile } from "#model/gateways/dlp-profile.ts";
import type { Dlp, DlpPolicy } from "#model/gateways/dlp.ts";
import type { Gateway } from "#model/gateways/gateway.ts";
import { useRead, useWrite } from "../../../api/hooks.ts";
import { Icon } from "../../../parts/icon.tsx";
import { List } from "../../../parts/list.tsx";
import { Badge, Card, Empty, Failed, Fault, Loading, Notice } from "../../../parts/page.tsx";
import tools from "../../../parts/tools.module.css";
import { gatewayWrite } from "./gateway-write.ts";
import { PolicyForm } from "./policy-form.tsx";

interface PoliciesProps {
  readonly base: string;
  readonly gateway: Gateway;
  readonly accountId: string;
}

/** The policies of a gateway; the older form, one action for everything, reads as one policy. */
const policiesOf = (dlp: Dlp | undefined): readonly DlpPolicy[] =>
  dlp === undefined
    ? []
    : "policies" in dlp
      ? dlp.policies
      : [{ id: "default", enabled: true, action: dlp.action, check: ["REQUEST", "RESPONSE"], profiles: dlp.profiles }];

/** Sensitive data that the gateway looks for, and its answer to it. */
export function DataPolicies({ base, gateway, accountId }: PoliciesProps) {
  const profiles = useRead<DlpProfile[]>(`/accounts/${accountId}/dlp/profiles`);
  const write = useWrite<Gateway>(base);
  const [form, setForm] = useState<DlpPolicy | "new">();
  const policies = policiesOf(gateway.dlp);
  const isOn = gateway.dlp?.enabled ?? false;
  const save = (next: readonly DlpPolicy[], enabled: boolean): void =>
    write.mutate(gatewayWrite(base, gateway, { dlp: { enabled, policies: [...next] } }), { onSuccess: () => setForm(undefined) });
  const titles = new Map(profiles.data?.result.map(({ id, name }) => [id, name]));
  return (
    <Card
      title="Sensitive data"
      aside={
        <Button
          size="xs"
          variant="default"
          leftSection={<Icon name="plus" size={16} />}
          disabled={!profiles.data}
          onClick={() => setForm("new")}
        >
          Add a policy
        </Button>
      }
    >
      {profiles.error ? (
        <Failed error={profiles.error} onAgain={() => void profiles.refetch()} />
      ) : !profiles.data ? (
        <Loading />
      ) : policies.length === 0 ? (
        <Empty title="No policies yet">
          <p>A policy flags or blocks prompts and answers that contain card numbers, keys, words of yours and the like.</p>
        </Empty>
      ) : (
        <>
          <div className={tools["above"]}>
            <Switch
              label="Look for sensitive data"
              checked={isOn}
              disabled={write.isPending}
              onChange={({ currentTarget }) => save(policies, currentTarget.checked)}
            />
          </div>
          <List<DlpPolicy>
            label="Policies"
            rows={policies}
            keyOf={({ id }) => id}
            columns={[
              {
                head: "Policy",
                width: "auto",
                cell: ({ id, enabled }) => (
                  <>
                    <b>{id}</b> {!enabled && <Badge>off</Badge>}
                  </>
                ),
              },
              {
                head: "Looks for",
                width: "auto",
                cell: (policy) => policy.profiles.map((id) => titles.get(id) ?? id).join(", ") || "nothing",
              },
              {
                head: "In",
                width: "150px",
                isMinor: true,
                cell: ({ check }) => check.map((side) => (side === "REQUEST" ? "prompts" : "answers")).join(" and "),
              },
              {
                head: "Then",
                width: "90px",
                cell: ({ action }) => <Badge tone={action === "BLOCK" ? "bad" : "warn"}>{action === "BLOCK" ? "block" : "flag"}</Badge>,
              },
              {
                head: "Actions",
                width: "150px",
                cell: (policy) => (
                  <span className={tools["row"]}>
                    <Button size="compact-xs" variant="default" aria-label={`Edit the policy ${policy.id}`} onClick={() => setForm(policy)}>
                      Edit
                    </Button>
                    <Button
                      size="compact-xs"
                      variant="default"
                      aria-label={`Delete the policy ${policy.id}`}
                      onClick={() =>
                        save(
                          policies.filter(({ id }) => id !== policy.id),
                          isOn,
                        )
                      }
                    >
                      Delete
                    </Button>
                  </span>
                ),
              },
            ]}
          />
        </>
      )}
      {write.error && form === undefined && (
        <div className={tools["below"]}>
          <Notice tone="bad">
            <Fault error={write.error} />
          </Notice>
        </div>
      )}
      {form !== undefined && profiles.data && (
        <PolicyForm
          policy={form === "new" ? undefined : form}
          taken={policies.map(({ id }) => id)}
          profiles={profiles.data.result}
          accountId={accountId}
          error={write.error}
          isPending={write.isPending}
          onClose={() => {
            write.reset();
            setForm(undefined);
          }}
          onSave={(policy) =>
            form === "new"
              ? save([...policies, policy], policies.length === 0 || isOn)
              : save(
                  policies.map((one) => (one.id === form.id ? policy : one)),
                  isOn,
                )
          }
        />
      )}
    </Card>
  );
}
