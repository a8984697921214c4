import { Button } from "@mantine/core";
import { useState } from "react";
import type { AccessRule } from "#model/rulesets/access-rule.ts";
import { useRead, useWrite } from "../../../api/hooks.ts";
import { useAddress } from "../../../api/search.ts";
import { Choice } from "../../../parts/choice.tsx";
import { Confirm } from "../../../parts/dialogs/confirm.tsx";
import { List } from "../../../parts/list.tsx";
import { Badge, Empty, Failed, Loading } from "../../../parts/page.tsx";
import { count, Time } from "../../../parts/time.tsx";
import tools from "../../../parts/tools.module.css";
import { MODES, TARGETS } from "./access-words.ts";

interface ListProps {
  /** Path of the rules; undefined until their owner is known. */
  readonly base: string | undefined;
  /** Told of an owner without rules. */
  readonly hint: string;
  /** Told before a rule is deleted. */
  readonly after: string;
}

/** Addresses, networks and countries that an account or a zone admits or stops. */
export function AccessRuleList({ base, hint, after }: ListProps) {
  const [{ mode }, go] = useAddress();
  const read = useRead<AccessRule[]>(base && `${base}?per_page=100${mode === undefined ? "" : `&mode=${mode}`}`, { keepsPrevious: true });
  const remove = useWrite<{ id: string }>(base ?? "");
  const [removing, setRemoving] = useState<AccessRule>();
  const total = read.data?.result_info?.total_count ?? 0;
  return (
    <>
      {(total > 0 || mode !== undefined) && (
        <div className={`${tools["row"]} ${tools["above"]}`}>
          <Choice
            label="Action"
            isQuiet
            value={mode ?? ""}
            options={[["", "All actions"], ...Object.entries(MODES).map(([id, { title }]) => [id, title] as const)]}
            onChange={(next) => go({ mode: next || undefined }, { replace: true })}
          />
          {total > 100 && <span className={tools["quiet"]}>The first 100 of {count(total)}; a list holds more.</span>}
        </div>
      )}
      {read.error ? (
        <Failed error={read.error} onAgain={() => void read.refetch()} />
      ) : !read.data ? (
        <Loading />
      ) : read.data.result.length === 0 ? (
        <Empty title={mode === undefined ? "No addresses yet" : "No rule has this action"}>
          <p>{hint}</p>
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
          {after}
        </Confirm>
      )}
    </>
  );
}
