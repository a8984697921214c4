import { Button } from "@mantine/core";
import { type ReactNode, useState } from "react";
import { useRead, useWrite } from "../../../api/hooks.ts";
import { Confirm } from "../../../parts/dialogs/confirm.tsx";
import { type Column, List } from "../../../parts/list.tsx";
import { Badge, Card, Empty, Failed, Loading } from "../../../parts/page.tsx";
import tools from "../../../parts/tools.module.css";

interface VisitorRule {
  readonly id: string;
  readonly description: string;
  readonly paused: boolean;
}

interface RulesProps<T extends VisitorRule> {
  readonly title: string;
  readonly path: string;
  /** Label of the button that adds one. */
  readonly add: string;
  readonly empty: ReactNode;
  /** Told before one is deleted. */
  readonly after: string;
  readonly columns: readonly Column<T>[];
  readonly nameOf: (rule: T) => string;
  readonly form: (rule: T | undefined, onClose: () => void) => ReactNode;
}

type Open<T> = { readonly kind: "form"; readonly rule: T | undefined } | { readonly kind: "delete"; readonly rule: T };

/** Rules of one kind, each with a form and a button that deletes it. */
export function VisitorRules<T extends VisitorRule>({ title, path, add, empty, after, columns, nameOf, form }: RulesProps<T>) {
  const read = useRead<T[]>(`${path}?per_page=100`);
  const remove = useWrite<unknown>(path);
  const [open, setOpen] = useState<Open<T>>();
  const close = (): void => setOpen(undefined);
  const button = (rule: T, kind: "form" | "delete", label: string) => (
    <Button variant="default" size="compact-xs" aria-label={`${label} ${nameOf(rule)}`} onClick={() => setOpen({ kind, rule })}>
      {label}
    </Button>
  );
  return (
    <Card
      title={title}
      aside={
        <Button size="xs" variant="default" onClick={() => setOpen({ kind: "form", rule: undefined })}>
          {add}
        </Button>
      }
    >
      {read.error ? (
        <Failed error={read.error} onAgain={() => void read.refetch()} />
      ) : !read.data ? (
        <Loading />
      ) : read.data.result.length === 0 ? (
        <Empty title="None yet">
          <p>{empty}</p>
        </Empty>
      ) : (
        <List<T>
          label={title}
          rows={read.data.result}
          keyOf={({ id }) => id}
          columns={[
            ...columns,
            {
              head: "Name",
              width: "auto",
              cell: ({ description, paused }) => (
                <>
                  {description} {paused && <Badge>off</Badge>}
                </>
              ),
            },
            {
              head: "Actions",
              width: "140px",
              cell: (rule) => (
                <span className={tools["row"]}>
                  {button(rule, "form", "Edit")} {button(rule, "delete", "Delete")}
                </span>
              ),
            },
          ]}
        />
      )}
      {open?.kind === "form" && form(open.rule, close)}
      {open?.kind === "delete" && (
        <Confirm
          title={`Delete the rule for ${nameOf(open.rule)}?`}
          action="Delete the rule"
          error={remove.error}
          isPending={remove.isPending}
          onClose={close}
          onConfirm={() => remove.mutate({ method: "DELETE", path: `${path}/${open.rule.id}` }, { onSuccess: close })}
        >
          {after}
        </Confirm>
      )}
    </Card>
  );
}
