import { Button } from "@mantine/core";
import { useNavigate, useParams } from "@tanstack/react-router";
import { useState } from "react";
import type { RuleList, RuleListItem } from "#model/rulesets/rule-list.ts";
import { useAccount, useRead, useWrite } from "../../../api/hooks.ts";
import { useAddress } from "../../../api/search.ts";
import { Confirm } from "../../../parts/dialogs/confirm.tsx";
import { Icon } from "../../../parts/icon.tsx";
import { List } from "../../../parts/list.tsx";
import { Card, Empty, Failed, Fault, Loading, Notice, PageHead } from "../../../parts/page.tsx";
import { number, Time } from "../../../parts/time.tsx";
import tools from "../../../parts/tools.module.css";
import { SearchField } from "../../../parts/search-field.tsx";
import { AccountTabs } from "../account-tabs.tsx";
import { AddItems } from "./add-items.tsx";
import { KINDS, textOf } from "./items.ts";
import { useItemsWrite } from "./use-items-write.ts";

const PER_PAGE = 100;

export function RuleListPage() {
  const { list: id } = useParams({ strict: false }) as { list: string };
  const account = useAccount();
  const base = account && `/accounts/${account.id}/rules/lists`;
  const read = useRead<RuleList>(base && `${base}/${id}`);
  if (read.error) return <Failed isPage error={read.error} onAgain={() => void read.refetch()} />;
  return base === undefined || !read.data ? <Loading isPage /> : <Items base={base} list={read.data.result} />;
}

function Items({ base, list }: { readonly base: string; readonly list: RuleList }) {
  const path = `${base}/${list.id}/items`;
  const [{ search, cursor }, go] = useAddress();
  const [open, setOpen] = useState<"add" | "delete">();
  const query = new URLSearchParams({ per_page: String(PER_PAGE), ...(search && { search }), ...(cursor && { cursor }) });
  const read = useRead<RuleListItem[]>(`${path}?${query.toString()}`, { keepsPrevious: true });
  const remove = useItemsWrite(base, list.id);
  const removeList = useWrite<{ id: string }>(base);
  const navigate = useNavigate();
  const next = read.data?.result_info?.cursor;
  return (
    <>
      <PageHead title={`$${list.name}`} lead={list.description ?? `A list of ${KINDS[list.kind].title}.`}>
        <Button variant="default" onClick={() => setOpen("delete")}>
          Delete the list
        </Button>
        <Button leftSection={<Icon name="plus" size={16} />} onClick={() => setOpen("add")}>
          Add items
        </Button>
      </PageHead>
      <AccountTabs />
      <div className={tools["tools"]}>
        <SearchField
          label="Search items"
          placeholder="Search items and comments"
          asked={search}
          onAsk={(text) => go({ search: text, cursor: undefined }, { replace: true })}
        />
        <span
          className={tools["hint"]}
        >{`${number(list.num_items, "item")}, used by ${number(list.num_referencing_filters, "rule")}`}</span>
      </div>
      {remove.error && (
        <Notice tone="bad">
          <Fault error={remove.error} />
        </Notice>
      )}
      <Card>
        {read.error ? (
          <Failed error={read.error} onAgain={() => void read.refetch()} />
        ) : !read.data ? (
          <Loading />
        ) : read.data.result.length === 0 ? (
          <Empty title={search === undefined ? "The list is empty" : "No item matches"} />
        ) : (
          <List<RuleListItem>
            label="Items"
            rows={read.data.result}
            keyOf={({ id }) => id}
            columns={[
              { head: "Item", width: "auto", cell: (item) => <span className="mono">{textOf(item)}</span> },
              { head: "Comment", width: "auto", cell: ({ comment = "" }) => comment },
              { head: "Added", width: "130px", isMinor: true, cell: ({ created_on }) => <Time of={created_on} /> },
              {
                head: "Action",
                width: "90px",
                cell: (item) => (
                  <Button
                    variant="default"
                    size="compact-xs"
                    aria-label={`Delete ${textOf(item)}`}
                    loading={remove.isPending && remove.variables.items.includes(item)}
                    onClick={() => remove.mutate({ method: "DELETE", items: [item] })}
                  >
                    Delete
                  </Button>
                ),
              },
            ]}
          />
        )}
      </Card>
      {(next !== undefined || cursor !== undefined) && (
        <div className={tools["pager"]}>
          <Button variant="default" disabled={cursor === undefined} onClick={() => go({ cursor: undefined })}>
            First page
          </Button>
          <Button variant="default" disabled={next === undefined} onClick={() => go({ cursor: next })}>
            Next
          </Button>
        </div>
      )}
      {open === "add" && <AddItems base={base} list={list} onClose={() => setOpen(undefined)} />}
      {open === "delete" && (
        <Confirm
          title={`Delete the list ${list.name}?`}
          action="Delete the list"
          typed={list.name}
          error={removeList.error}
          isPending={removeList.isPending}
          onClose={() => setOpen(undefined)}
          onConfirm={() =>
            removeList.mutate(
              { method: "DELETE", path: `${base}/${list.id}` },
              { onSuccess: () => void navigate({ to: "/account/lists", search: {} }) },
            )
          }
        >
          Its items are deleted with it. A list that a rule uses cannot be deleted.
        </Confirm>
      )}
    </>
  );
}
