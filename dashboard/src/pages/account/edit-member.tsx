import { Button } from "@mantine/core";
import { useState } from "react";
import type { AccountMember, AccountRole } from "#model/access/account-member.ts";
import { useRead, useWrite } from "../../api/hooks.ts";
import { Choice } from "../../parts/choice.tsx";
import { FormDialog } from "../../parts/dialogs/form-dialog.tsx";
import { Notice } from "../../parts/page.tsx";

interface EditProps {
  readonly base: string;
  readonly member: AccountMember;
  readonly onClose: () => void;
}

/** Another role, or the end of the membership; an invitation that nobody has accepted can be withdrawn. */
export function EditMember({ base, member, onClose }: EditProps) {
  const path = `${base}/members/${member.id}`;
  const isPending = member.status === "pending";
  const roles = useRead<AccountRole[]>(`${base}/roles?per_page=50`);
  const [role, setRole] = useState(member.roles[0]?.id ?? "");
  const [isSure, setSure] = useState(false);
  const write = useWrite<unknown>(`${base}/members`);
  const options = (roles.data?.result ?? member.roles).map(({ id, name }) => [id, name] as const);
  const submit = (): void => {
    write.mutate({ method: "PUT", path, body: { roles: [{ id: role }] } }, { onSuccess: onClose });
  };
  const remove = (): void => {
    if (isSure) write.mutate({ method: "DELETE", path }, { onSuccess: onClose });
    else setSure(true);
  };
  return (
    <FormDialog
      title={member.email}
      onClose={onClose}
      submit="Save the role"
      onSubmit={submit}
      isPending={write.isPending}
      isDisabled={role === member.roles[0]?.id}
      error={write.error}
      actions={
        <Button variant="subtle" color="red" onClick={remove} loading={write.isPending} loaderProps={{ type: "dots" }}>
          {isSure ? "Yes, remove" : isPending ? "Withdraw the invitation" : "Remove"}
        </Button>
      }
    >
      <Choice label="Role" value={role} options={options} onChange={setRole} />
      {isSure && (
        <Notice tone="warn">
          {isPending ? "The link stops working." : "The member loses access to this account and its zones at once."}
        </Notice>
      )}
    </FormDialog>
  );
}
