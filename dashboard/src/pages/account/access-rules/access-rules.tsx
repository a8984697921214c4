import { Button } from "@mantine/core";
import { useState } from "react";
import type { AccessRule } from "#model/rulesets/access-rule.ts";
import { useAccount, useRead, useWrite } from "../../../api/hooks.ts";
import { useAdding, useAddress } from "../../../api/search.ts";
import { Confirm } from "../../../parts/dialogs/confirm.tsx";
import { Choice } from "../../../parts/choice.tsx";
import { Icon } from "../../../parts/icon.tsx";
import { List } from "../../../parts/list.tsx";
import { Badge, Card, Empty, Failed, Loading, PageHead } from "../../../parts/page.tsx";
import { count, Time } from "../../../parts/time.tsx";
import tools from "../../../parts/tools.module.css";
import { AccountTabs } from "../account-tabs.tsx";
import { AccessRuleForm } from "./access-rule-form.tsx";
import { MODES, TARGETS } from "./access-words.ts";

/** Addresses, networks and countries that every zone of the account admits or stops. */
export function AccessRulesPage() {
  const account = useAccount();
  const base = account && `/accounts/${account.id}/firewall/access_rules/rules`;
  const [{ mode }, go] = useAddress();
  const read = useRead<AccessRule[]>(base && `${base}?per_page=100${mode === undefined ? "" : `&mode=${mode}`}`, { keepsPrevious: true });
  const remove = useWrite<{ id: string }>(base ?? "");
  const [isAdding, setAdding] = useAdding();
  const [removing, setRemoving] = useState<AccessRule>();
  const total = read.data?.result_info?.total_count ?? 0;
  return (
    <>
      <PageHead title="Account" lead="Addresses, networks and countries that all zones of this account admit or stop, before any rule.">
        <Button leftSection={<Icon name="plus" size={16} />} onClick={() => setAdding(true)}>
          Add addresses
        </Button>
      </PageHead>
      <AccountTabs />
      <div className={tools["tools"]}>
        <Choice
          label="Action"
          isQuiet
          value={mode ?? ""}
          options={[["", "All actions"], ...Object.entries(MODES).map(([id, { title }]) => [id, title] as const)]}
          onChange={(next) => go({ mode: next || undefined }, { replace: true })}
        />
        {total > 100 && <span className={tools["quiet"]}>The first 100 of {count(total)}; a list holds more.</span>}
      </div>
      <Card>
        {read.error ? (
          <Failed error={read.error} onAgain={() => void read.refetch()} />
        ) : !read.data ? (
          <Loading />
        ) : read.data.result.length === 0 ? (
          <Empty title={mode === undefined ? "No addresses yet" : "No rule has this action"}>
            <p>Admit your office and your monitoring, or stop a network. Up to 1,000; rules with a list take more.</p>
          </Empty>
        ) : (
          <List<AccessRule>
            label="Addresses"
            rows={read.data.result}
            keyOf={({ id }) => id}
            columns={[
              { head: "Value", width: "auto", cell: ({ configuration }) => <b className="num">{configuration.value}</b> },
              { head: "Kind", width: "150px", isMinor: true, cell: ({ configuration }) => TARGETS[configuration.target] },
              { head: "Action", width: "170px", cell: (rule) => <Badge tone={MODES[rule.mode].tone}>{MODES[rule.mode].title}</Badge> },
              { head: "Notes", width: "auto", cell: ({ notes }) => notes },
              { head: "Changed", width: "120px", isMinor: true, cell: ({ modified_on }) => <Time of={modified_on} /> },
              {
                head: "Delete",
                width: "90px",
                cell: (rule) => (
                  <Button
                    size="compact-xs"
                    variant="default"
                    aria-label={`Delete the rule for ${rule.configuration.value}`}
                    onClick={() => setRemoving(rule)}
                  >
                    Delete
                  </Button>
                ),
              },
            ]}
          />
        )}
      </Card>
      {isAdding && base !== undefined && <AccessRuleForm base={base} onClose={() => setAdding(false)} />}
      {removing && (
        <Confirm
          title={`Delete the rule for ${removing.configuration.value}?`}
          action="Delete the rule"
          error={remove.error}
          isPending={remove.isPending}
          onClose={() => setRemoving(undefined)}
          onConfirm={() =>
            remove.mutate({ method: "DELETE", path: `${base ?? ""}/${removing.id}` }, { onSuccess: () => setRemoving(undefined) })
          }
        >
          Its visitors meet the rules of each zone like everybody else.
        </Confirm>
      )}
    </>
  );
}
