import { Button, TextInput } from "@mantine/core";
import { Link } from "@tanstack/react-router";
import { useState } from "react";
import type { RuleList, RuleListKind } from "#model/rulesets/rule-list.ts";
import { useAccount, useRead, useWrite } from "../../../api/hooks.ts";
import { Choice } from "../../../parts/choice.tsx";
import { FormDialog } from "../../../parts/dialogs/form-dialog.tsx";
import { Icon } from "../../../parts/icon.tsx";
import { List } from "../../../parts/list.tsx";
import { Card, Empty, Failed, Loading, PageHead } from "../../../parts/page.tsx";
import { count, Time } from "../../../parts/time.tsx";
import tools from "../../../parts/tools.module.css";
import { AccountTabs } from "../account-tabs.tsx";
import { KINDS } from "./items.ts";

export function ListsPage() {
  const account = useAccount();
  const base = account && `/accounts/${account.id}/rules/lists`;
  const read = useRead<RuleList[]>(base);
  const [isAdding, setAdding] = useState(false);
  return (
    <>
      <PageHead title="Account" lead="Rules of every zone can look values up in a list: ip.src in $office.">
        <Button leftSection={<Icon name="plus" size={16} />} onClick={() => setAdding(true)}>
          Create a list
        </Button>
      </PageHead>
      <AccountTabs />
      <Card>
        {read.error ? (
          <Failed error={read.error} onAgain={() => void read.refetch()} />
        ) : !read.data ? (
          <Loading />
        ) : read.data.result.length === 0 ? (
          <Empty title="No lists yet">
            <p>A list of addresses, networks, hostnames or redirects serves many rules, and changes without them.</p>
          </Empty>
        ) : (
          <List<RuleList>
            label="Lists"
            rows={read.data.result}
            keyOf={({ id }) => id}
            columns={[
              {
                head: "Name",
                width: "auto",
                cell: ({ id, name }) => (
                  <Link to="/account/lists/$list" params={{ list: id }} search={{}}>
                    {name}
                  </Link>
                ),
              },
              { head: "Of", width: "auto", cell: ({ kind }) => KINDS[kind].title },
              { head: "Items", width: "90px", isFigure: true, cell: ({ num_items }) => count(num_items) },
              {
                head: "Used by rules",
                width: "110px",
                isFigure: true,
                isMinor: true,
                cell: ({ num_referencing_filters }) => count(num_referencing_filters),
              },
              { head: "Description", width: "auto", isMinor: true, cell: ({ description = "" }) => description },
              { head: "Changed", width: "130px", isMinor: true, cell: ({ modified_on }) => <Time of={modified_on} /> },
            ]}
          />
        )}
      </Card>
      {isAdding && base !== undefined && <CreateList base={base} onClose={() => setAdding(false)} />}
    </>
  );
}

function CreateList({ base, onClose }: { readonly base: string; readonly onClose: () => void }) {
  const [name, setName] = useState("");
  const [kind, setKind] = useState<RuleListKind>("ip");
  const [description, setDescription] = useState("");
  const write = useWrite<RuleList>(base);
  const submit = (): void => {
    const body = { name: name.trim(), kind, ...(description === "" ? {} : { description }) };
    write.mutate({ method: "POST", path: base, body }, { onSuccess: onClose });
  };
  const options = Object.entries(KINDS).map(([value, { title }]) => [value as RuleListKind, title] as const);
  return (
    <FormDialog
      title="Create a list"
      size={560}
      onClose={onClose}
      submit="Create the list"
      onSubmit={submit}
      isPending={write.isPending}
      error={write.error}
    >
      <div className={tools["two"]}>
        <TextInput
          label="Name"
          description="Small letters, digits and _."
          placeholder="office"
          value={name}
          onChange={({ currentTarget }) => setName(currentTarget.value)}
          spellCheck={false}
          required
          data-autofocus
        />
        <Choice label="A list of" description="All items are of this kind." value={kind} options={options} onChange={setKind} />
      </div>
      <TextInput label="Description" value={description} onChange={({ currentTarget }) => setDescription(currentTarget.value)} />
    </FormDialog>
  );
}
