import { Button } from "@mantine/core";
import { useState } from "react";
import type { Passkey } from "#model/access/passkey.ts";
import { useRead, useWrite } from "../../../api/hooks.ts";
import { Confirm } from "../../../parts/dialogs/confirm.tsx";
import { List } from "../../../parts/list.tsx";
import { Badge, Card, Empty, Failed, Loading } from "../../../parts/page.tsx";
import { Time } from "../../../parts/time.tsx";
import tools from "../../../parts/tools.module.css";
import { hasPasskeys } from "../../../shell/passkey.ts";
import { AddPasskey } from "./add-passkey.tsx";
import { RenamePasskey } from "./rename-passkey.tsx";

const PASSKEYS = "/user/passkeys";

/** `hasPassword`: undefined until it is known. */
export function Passkeys({ hasPassword }: { readonly hasPassword: boolean | undefined }) {
  const read = useRead<Passkey[]>(PASSKEYS);
  const [open, setOpen] = useState<{ readonly kind: "add" } | { readonly kind: "rename" | "delete"; readonly passkey: Passkey }>();
  const close = (): void => setOpen(undefined);
  const add = (
    <Button size="xs" disabled={!hasPasskeys() || hasPassword === undefined} onClick={() => setOpen({ kind: "add" })}>
      Add a passkey
    </Button>
  );
  return (
    <Card title="Passkeys" aside={read.data && read.data.result.length > 0 ? add : undefined}>
      {read.error ? (
        <Failed error={read.error} onAgain={() => void read.refetch()} />
      ) : !read.data ? (
        <Loading />
      ) : read.data.result.length === 0 ? (
        <Empty title="Sign in with your fingerprint, face or key">
          <p>
            {hasPasskeys()
              ? "A passkey stays on your device, works for this address only, and replaces password and code."
              : `Passkeys need a host name, and HTTPS or a browser on this machine. ${elsewhere()}`}
          </p>
          {add}
        </Empty>
      ) : (
        <List<Passkey>
          label="Passkeys"
          rows={read.data.result}
          keyOf={({ id }) => id}
          columns={[
            {
              head: "Name",
              width: "auto",
              cell: ({ name, synced }) => (
                <>
                  {name} {synced && <Badge>on several devices</Badge>}
                </>
              ),
            },
            { head: "For", width: "200px", isMinor: true, cell: ({ host }) => host },
            { head: "Added", width: "120px", isMinor: true, cell: ({ created_on }) => <Time of={created_on} /> },
            {
              head: "Last used",
              width: "120px",
              cell: ({ last_used_on }) =>
                last_used_on === null ? <span className={tools["quiet"]}>never</span> : <Time of={last_used_on} />,
            },
            {
              head: "Action",
              width: "150px",
              cell: (passkey) => (
                <div className={tools["row"]}>
                  <Button
                    variant="default"
                    size="compact-xs"
                    aria-label={`Rename ${passkey.name}`}
                    onClick={() => setOpen({ kind: "rename", passkey })}
                  >
                    Rename
                  </Button>
                  <Button
                    variant="default"
                    size="compact-xs"
                    aria-label={`Delete ${passkey.name}`}
                    onClick={() => setOpen({ kind: "delete", passkey })}
                  >
                    Delete
                  </Button>
                </div>
              ),
            },
          ]}
        />
      )}
      {open?.kind === "add" && <AddPasskey hasPassword={hasPassword === true} onClose={close} />}
      {open?.kind === "rename" && <RenamePasskey passkey={open.passkey} onClose={close} />}
      {open?.kind === "delete" && <DeletePasskey passkey={open.passkey} onClose={close} />}
    </Card>
  );
}

/** Where passkeys would work, for an address on this machine. */
const elsewhere = (): string =>
  /^(?:127\.|\[::1\])/.test(location.hostname)
    ? `Open http://localhost:${location.port} instead.`
    : "Ask the operator for a name and a certificate.";

function DeletePasskey({ passkey, onClose }: { readonly passkey: Passkey; readonly onClose: () => void }) {
  const remove = useWrite<{ id: string }>(PASSKEYS, "/user/sessions");
  return (
    <Confirm
      title={`Delete ${passkey.name}?`}
      action="Delete the passkey"
      error={remove.error}
      isPending={remove.isPending}
      onClose={onClose}
      onConfirm={() => remove.mutate({ method: "DELETE", path: `${PASSKEYS}/${passkey.id}` }, { onSuccess: onClose })}
    >
      It signs in no more, and browsers that it signed in are signed out. Your device may keep it; delete it there, too.
    </Confirm>
  );
}
