import { Button, TextInput } from "@mantine/core";
import { useState } from "react";
import type { AccountMember, AccountRole } from "#model/access/account-member.ts";
import { useRead, useWrite } from "../../api/hooks.ts";
import { Choice } from "../../parts/choice.tsx";
import { CopyBlock } from "../../parts/copy-block.tsx";
import { FormDialog } from "../../parts/dialogs/form-dialog.tsx";
import { Actions, Dialog } from "../../parts/dialogs/modal.tsx";
import { Loading, Notice } from "../../parts/page.tsx";
import tools from "../../parts/tools.module.css";

/** Invites somebody to the account `base`, and shows the link if the server has sent no e-mail. */
export function Invite({ base, onClose }: { readonly base: string; readonly onClose: () => void }) {
  const roles = useRead<AccountRole[]>(`${base}/roles?per_page=50`);
  const [email, setEmail] = useState("");
  const [role, setRole] = useState("");
  const write = useWrite<AccountMember>(`${base}/members`);
  if (!roles.data) return <Loading />;
  const options = roles.data.result.map(({ id, name }) => [id, name] as const);
  const chosen = role === "" ? (options.at(-1)?.[0] ?? "") : role;
  const submit = (): void => {
    write.mutate({ method: "POST", path: `${base}/members`, body: { email: email.trim(), roles: [chosen] } });
  };
  if (write.data !== undefined) return <Invited reply={write.data} onClose={onClose} />;
  return (
    <FormDialog title="Invite somebody" onClose={onClose} submit="Invite" onSubmit={submit} isPending={write.isPending} error={write.error}>
      <TextInput
        label="E-mail"
        type="email"
        value={email}
        onChange={({ currentTarget }) => setEmail(currentTarget.value)}
        required
        data-autofocus
      />
      <Choice label="Role" value={chosen} options={options} onChange={setRole} />
    </FormDialog>
  );
}

interface InvitedProps {
  readonly reply: { readonly result: AccountMember; readonly messages?: readonly { readonly message: string }[] };
  readonly onClose: () => void;
}

function Invited({ reply: { result, messages = [] }, onClose }: InvitedProps) {
  const secret = result.invitation?.secret;
  return (
    <Dialog title="Invited" onClose={onClose}>
      <div className={tools["form"]}>
        {messages.map(({ message }) => (
          <Notice key={message} tone="warn">
            {message}
          </Notice>
        ))}
        {secret === undefined ? (
          <p>An e-mail with a link is on its way to {result.email}. The link works for seven days.</p>
        ) : (
          <>
            <p>This server sends no e-mail. Send {result.email} this link, which is shown only now and works once, for seven days:</p>
            <CopyBlock label="Link of the invitation" text={`${location.origin}/#invitation=${secret}`} />
          </>
        )}
        <Actions>
          <Button onClick={onClose}>Done</Button>
        </Actions>
      </div>
    </Dialog>
  );
}
