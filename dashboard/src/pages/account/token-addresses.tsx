import { Textarea } from "@mantine/core";
import { useState } from "react";
import type { Token, TokenCondition } from "#model/access/token.ts";
import { addressesOf } from "../../api/addresses.ts";
import { useWrite } from "../../api/hooks.ts";
import { FormDialog } from "../../parts/dialogs/form-dialog.tsx";
import tools from "../../parts/tools.module.css";

/** The condition of a token; undefined if it has none. */
export function conditionOf(admitted: string, refused: string): TokenCondition | undefined {
  const [within, without] = [addressesOf(admitted), addressesOf(refused)];
  if (within.length + without.length === 0) return undefined;
  return { request_ip: { ...(within.length > 0 ? { in: within } : {}), ...(without.length > 0 ? { not_in: without } : {}) } };
}

interface FieldsProps {
  readonly admitted: string;
  readonly refused: string;
  readonly onAdmitted: (text: string) => void;
  readonly onRefused: (text: string) => void;
}

export const AddressFields = ({ admitted, refused, onAdmitted, onRefused }: FieldsProps) => (
  <div className={tools["two"]}>
    <Textarea
      label="Works from"
      description="Addresses, networks. Empty: everywhere."
      placeholder="192.0.2.0/24"
      rows={2}
      value={admitted}
      onChange={({ currentTarget }) => onAdmitted(currentTarget.value)}
      spellCheck={false}
    />
    <Textarea
      label="But not from"
      description="Exceptions within these."
      placeholder="192.0.2.9"
      rows={2}
      value={refused}
      onChange={({ currentTarget }) => onRefused(currentTarget.value)}
      spellCheck={false}
    />
  </div>
);

/** The addresses that a token works from, in words. */
export function addressWords({ request_ip: of }: TokenCondition = {}): string {
  const within = (of?.in ?? []).join(", ") || "everywhere";
  const without = (of?.not_in ?? []).join(", ");
  return without === "" ? within : `${within}, not ${without}`;
}

interface EditProps {
  readonly base: string;
  readonly token: Token;
  readonly onClose: () => void;
}

export function TokenAddresses({ base, token, onClose }: EditProps) {
  const [admitted, setAdmitted] = useState((token.condition?.request_ip?.in ?? []).join("\n"));
  const [refused, setRefused] = useState((token.condition?.request_ip?.not_in ?? []).join("\n"));
  const write = useWrite<Token>(base);
  const submit = (): void => {
    const { name, not_before, expires_on } = token;
    const policies = token.policies.map(({ effect, resources, permission_groups: groups }) => ({
      effect,
      resources,
      permission_groups: groups.map(({ id }) => ({ id })),
    }));
    const times = { ...(not_before === undefined ? {} : { not_before }), ...(expires_on === undefined ? {} : { expires_on }) };
    const body = { name, policies, ...times, condition: conditionOf(admitted, refused) ?? null };
    write.mutate({ method: "PUT", path: `${base}/${token.id}`, body }, { onSuccess: onClose });
  };
  return (
    <FormDialog
      title={`Addresses of ${token.name}`}
      onClose={onClose}
      size={560}
      submit="Save"
      onSubmit={submit}
      isPending={write.isPending}
      error={write.error}
    >
      <AddressFields admitted={admitted} refused={refused} onAdmitted={setAdmitted} onRefused={setRefused} />
    </FormDialog>
  );
}
