import { Button, TextInput } from "@mantine/core";
import { useState } from "react";
import type { ImageKeys } from "#model/images/image-variant.ts";
import { useAccount, useRead, useWrite } from "../../api/hooks.ts";
import { useAdding } from "../../api/search.ts";
import { Confirm } from "../../parts/dialogs/confirm.tsx";
import { CopyBlock } from "../../parts/copy-block.tsx";
import { FormDialog } from "../../parts/dialogs/form-dialog.tsx";
import { Icon } from "../../parts/icon.tsx";
import { List } from "../../parts/list.tsx";
import { Dialog } from "../../parts/dialogs/modal.tsx";
import { Card, Empty, Failed, Fault, Loading, PageHead } from "../../parts/page.tsx";
import tools from "../../parts/tools.module.css";
import { ImageTabs } from "./image-tabs.tsx";

type Key = ImageKeys["keys"][number];

export function ImageKeysPage() {
  const account = useAccount();
  const path = account && `/accounts/${account.id}/images/v1/keys`;
  const read = useRead<ImageKeys>(path);
  const [isAdding, setAdding] = useAdding();
  const [shown, setShown] = useState<Key>();
  const [removing, setRemoving] = useState<Key>();
  const remove = useWrite<ImageKeys>(path ?? "-");
  const add = (
    <Button leftSection={<Icon name="plus" size={16} />} onClick={() => setAdding(true)}>
      Create a key
    </Button>
  );
  return (
    <>
      <PageHead title="Images" lead="Your server signs the addresses of private images with a key of this account.">
        {read.data && read.data.result.keys.length > 0 && add}
      </PageHead>
      <ImageTabs />
      <Card>
        {read.error ? (
          <Failed error={read.error} onAgain={() => void read.refetch()} />
        ) : !read.data ? (
          <Loading />
        ) : read.data.result.keys.length === 0 ? (
          <Empty title="No key signs addresses yet">
            <p>Without one, private images can only be seen here and by the API.</p>
            {add}
          </Empty>
        ) : (
          <List<Key>
            label="Signing keys"
            rows={read.data.result.keys}
            keyOf={({ name }) => name}
            columns={[
              { head: "Name", width: "auto", cell: ({ name }) => <b>{name}</b> },
              {
                head: "Action",
                width: "180px",
                cell: (key) => (
                  <span className={tools["row"]}>
                    <Button variant="default" size="compact-xs" aria-label={`Show ${key.name}`} onClick={() => setShown(key)}>
                      Show
                    </Button>
                    <Button variant="default" size="compact-xs" aria-label={`Delete ${key.name}`} onClick={() => setRemoving(key)}>
                      Delete
                    </Button>
                  </span>
                ),
              },
            ]}
          />
        )}
      </Card>
      {isAdding && path !== undefined && <CreateKey path={path} onClose={() => setAdding(false)} />}
      {shown && (
        <Dialog title={`The key ${shown.name}`} onClose={() => setShown(undefined)}>
          <div className={tools["form"]}>
            <p className={tools["hint"]}>
              A signature is the HMAC-SHA-256 of the address's path, a question mark and the rest of its query, in hexadecimal, as{" "}
              <code>sig</code>. <code>exp</code>, in seconds since 1970, ends it.
            </p>
            <CopyBlock label="the key" text={shown.value} />
          </div>
        </Dialog>
      )}
      {path !== undefined && removing && (
        <Confirm
          title={`Delete the key ${removing.name}?`}
          action="Delete the key"
          error={remove.error}
          isPending={remove.isPending}
          onClose={() => {
            setRemoving(undefined);
            remove.reset();
          }}
          onConfirm={() =>
            remove.mutate(
              { method: "DELETE", path: `${path}/${encodeURIComponent(removing.name)}` },
              { onSuccess: () => setRemoving(undefined) },
            )
          }
        >
          All addresses that it signed stop working at once.
        </Confirm>
      )}
    </>
  );
}

function CreateKey({ path, onClose }: { readonly path: string; readonly onClose: () => void }) {
  const [name, setName] = useState("");
  const write = useWrite<ImageKeys>(path);
  const submit = (): void => {
    write.mutate({ method: "PUT", path: `${path}/${encodeURIComponent(name.trim())}` }, { onSuccess: onClose });
  };
  return (
    <FormDialog title="Create a key" onClose={onClose} submit="Create" onSubmit={submit} isPending={write.isPending}>
      <TextInput
        label="Name"
        description="Such as the program that signs with it."
        placeholder="shop"
        value={name}
        onChange={({ currentTarget }) => setName(currentTarget.value)}
        error={write.error && <Fault error={write.error} />}
        required
        data-autofocus
      />
    </FormDialog>
  );
}
