import { Button } from "@mantine/core";
import { type FormEvent, useState } from "react";
import type { AccountMember, AccountRole } from "#model/access/account-member.ts";
import { useRead, useWrite } from "../../api/hooks.ts";
import { Choice } from "../../parts/choice.tsx";
import { Actions, Dialog } from "../../parts/modal.tsx";
import { Fault, Notice } from "../../parts/page.tsx";
import tools from "../../parts/tools.module.css";

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
  const submit = (event: FormEvent): void => {
    event.preventDefault();
    write.mutate({ method: "PUT", path, body: { roles: [{ id: role }] } }, { onSuccess: onClose });
  };
  const remove = (): void => {
    if (isSure) write.mutate({ method: "DELETE", path }, { onSuccess: onClose });
    else setSure(true);
  };
  return (
    <Dialog title={member.email} onClose={onClose}>
      <form className={tools["form"]} onSubmit={submit}>
        <Choice label="Role" value={role} options={options} onChange={setRole} />
        {isSure && (
          <Notice tone="warn">
            {isPending ? "The link stops working." : "The member loses access to this account and its zones at once."}
          </Notice>
        )}
        {write.error && (
          <Notice tone="bad">
            <Fault error={write.error} />
          </Notice>
        )}
        <Actions>
          <Button variant="subtle" color="red" onClick={remove} loading={write.isPending} loaderProps={{ type: "dots" }}>
            {isSure ? "Yes, remove" : isPending ? "Withdraw the invitation" : "Remove"}
          </Button>
          <Button variant="default" onClick={onClose}>
            Cancel
          </Button>
          <Button type="submit" disabled={role === member.roles[0]?.id} loading={write.isPending} loaderProps={{ type: "dots" }}>
            Save the role
          </Button>
        </Actions>
      </form>
    </Dialog>
  );
}
