import { Button, TextInput } from "@mantine/core";
import { type FormEvent, useState } from "react";
import type { Account } from "#model/access/account.ts";
import { useAccount, useRead, useWrite } from "../../api/hooks.ts";
import { CopyBlock } from "../../parts/copy-block.tsx";
import { Card, Facts, Failed, Fault, Loading, Notice, PageHead } from "../../parts/page.tsx";
import { Time } from "../../parts/time.tsx";
import tools from "../../parts/tools.module.css";
import { AccountTabs } from "./account-tabs.tsx";

export function AccountSettingsPage() {
  const account = useAccount();
  const read = useRead<Account>(account && `/accounts/${account.id}`);
  return (
    <>
      <PageHead title="Account" lead="The name of this account, and how the API names it." />
      <AccountTabs />
      <Card title="Name">
        {read.error ? (
          <Failed error={read.error} onAgain={() => void read.refetch()} />
        ) : !read.data ? (
          <Loading />
        ) : (
          <Name key={read.data.result.id} account={read.data.result} />
        )}
      </Card>
      {read.data && (
        <Card title="In the API">
          <div className={tools["stack"]}>
            <CopyBlock label="the identifier of the account" text={read.data.result.id} />
            <Facts of={[["Created", <Time of={read.data.result.created_on} as="full" />]]} />
          </div>
        </Card>
      )}
    </>
  );
}

function Name({ account }: { readonly account: Account }) {
  const [name, setName] = useState(account.name);
  const write = useWrite<Account>("/accounts", "/memberships");
  const submit = (event: FormEvent): void => {
    event.preventDefault();
    write.mutate({ method: "PUT", path: `/accounts/${account.id}`, body: { name: name.trim() } });
  };
  const isChanged = name.trim() !== account.name;
  return (
    <form className={tools["form"]} onSubmit={submit}>
      <TextInput
        className={tools["field"] ?? ""}
        label="Name of the account"
        description="Members see it in invitations and where they choose an account."
        value={name}
        error={write.error && <Fault error={write.error} />}
        onChange={({ currentTarget }) => setName(currentTarget.value)}
        maxLength={100}
        required
      />
      {write.isSuccess && !isChanged && <Notice tone="good">The account has its new name.</Notice>}
      <div>
        <Button type="submit" disabled={!isChanged || name.trim() === ""} loading={write.isPending} loaderProps={{ type: "dots" }}>
          Save the name
        </Button>
      </div>
    </form>
  );
}
