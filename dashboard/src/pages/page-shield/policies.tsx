import { Button } from "@mantine/core";
import { useState } from "react";
import type { PagePolicy } from "#model/rulesets/page-policy.ts";
import type { Zone } from "#model/zones/zone.ts";
import { useRead, useWrite } from "../../api/hooks.ts";
import { Confirm } from "../../parts/dialogs/confirm.tsx";
import { List } from "../../parts/list.tsx";
import { Badge, Card, Empty, Failed, Loading, Notice, type Tone } from "../../parts/page.tsx";
import tools from "../../parts/tools.module.css";
import { ACTIONS, PolicyForm } from "./policy-form.tsx";

const TONES: Readonly<Record<PagePolicy["action"], Tone>> = { allow: "good", log: "accent", add_reporting_directives: "plain" };

type Open = { readonly kind: "form"; readonly policy: PagePolicy | undefined } | { readonly kind: "delete"; readonly policy: PagePolicy };

export function Policies({ zone, isOn }: { readonly zone: Zone; readonly isOn: boolean }) {
  const path = `/zones/${zone.id}/page_shield/policies`;
  const read = useRead<PagePolicy[]>(path);
  const remove = useWrite<null>(path);
  const [open, setOpen] = useState<Open>();
  const close = (): void => setOpen(undefined);
  const add = (
    <Button size="xs" onClick={() => setOpen({ kind: "form", policy: undefined })}>
      Add a policy
    </Button>
  );
  return (
    <Card title="Policies" aside={read.data && read.data.result.length > 0 ? add : undefined}>
      {read.error ? (
        <Failed error={read.error} onAgain={() => void read.refetch()} />
      ) : !read.data ? (
        <Loading />
      ) : read.data.result.length === 0 ? (
        <Empty title="Let browsers load what you know, and nothing else">
          <p>Begin with a policy that only reports. When its security events show nothing of yours any more, have it enforced.</p>
          {add}
        </Empty>
      ) : (
        <div className={tools["stack"]}>
          {!isOn && <Notice tone="warn">Page Shield is off, so these policies have no effect.</Notice>}
          <List<PagePolicy>
            label="Policies"
            rows={read.data.result}
            keyOf={({ id }) => id}
            columns={[
              {
                head: "Policy",
                width: "auto",
                cell: ({ description, expression, value, enabled }) => (
                  <>
                    {description || "Without a name"} {!enabled && <Badge>off</Badge>}
                    <p className={tools["code"]}>{value}</p>
                    <p className={tools["quiet"]}>{expression === "true" ? "on every page" : `on pages where ${expression}`}</p>
                  </>
                ),
              },
              {
                head: "Does",
                width: "150px",
                cell: ({ action }) => <Badge tone={TONES[action]}>{ACTIONS.find(([id]) => id === action)?.[1]}</Badge>,
              },
              {
                head: "Action",
                width: "140px",
                cell: (policy) => (
                  <div className={tools["row"]}>
                    <Button
                      variant="default"
                      size="compact-xs"
                      aria-label={`Edit ${policy.description}`}
                      onClick={() => setOpen({ kind: "form", policy })}
                    >
                      Edit
                    </Button>
                    <Button
                      variant="default"
                      size="compact-xs"
                      aria-label={`Delete ${policy.description}`}
                      onClick={() => setOpen({ kind: "delete", policy })}
                    >
                      Delete
                    </Button>
                  </div>
                ),
              },
            ]}
          />
        </div>
      )}
      {open?.kind === "form" && <PolicyForm zone={zone} path={path} policy={open.policy} onClose={close} />}
      {open?.kind === "delete" && (
        <Confirm
          title={`Delete “${open.policy.description}”?`}
          action="Delete the policy"
          error={remove.error}
          isPending={remove.isPending}
          onClose={close}
          onConfirm={() => remove.mutate({ method: "DELETE", path: `${path}/${open.policy.id}` }, { onSuccess: close })}
        >
          Browsers then load on these pages what other policies allow.
        </Confirm>
      )}
    </Card>
  );
}
