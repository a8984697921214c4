import { Button, TextInput } from "@mantine/core";
import { useState } from "react";
import type { PermissionGroupView, TokenCreated } from "#model/access/token.ts";
import { useAccount, useRead, useWrite } from "../../api/hooks.ts";
import { secondsAgo } from "../../api/now.ts";
import { Choice } from "../../parts/choice.tsx";
import { CopyBlock } from "../../parts/copy-block.tsx";
import { FormDialog } from "../../parts/dialogs/form-dialog.tsx";
import { Actions, Dialog } from "../../parts/dialogs/modal.tsx";
import { Loading, Notice } from "../../parts/page.tsx";
import tools from "../../parts/tools.module.css";
import css from "./create-token.module.css";
import { AddressFields, conditionOf } from "./token-addresses.tsx";

const ENDS = [
  ["30", "in 30 days"],
  ["90", "in 90 days"],
  ["365", "in a year"],
  ["0", "never"],
] as const;

interface CreateProps {
  readonly onClose: () => void;
  /** Groups that are ticked to begin with. */
  readonly preset?: readonly string[];
  readonly name?: string;
}

/** A token of the user for this account and its zones; its secret is shown once. */
export function CreateToken({ onClose, preset = [], name: given = "" }: CreateProps) {
  const account = useAccount();
  const groups = useRead<PermissionGroupView[]>("/user/tokens/permission_groups");
  const [name, setName] = useState(given);
  const [ends, setEnds] = useState<string>("90");
  const [search, setSearch] = useState("");
  const [picked, setPicked] = useState<ReadonlySet<string>>(new Set(preset));
  const [admitted, setAdmitted] = useState("");
  const [refused, setRefused] = useState("");
  const write = useWrite<TokenCreated>("/user/tokens");
  const known = (groups.data?.result ?? []).filter(({ scopes }) => !scopes.includes("com.cloudflare.api.user"));
  const names = [...new Set(known.map((group) => group.name))].toSorted();
  const submit = (): void => {
    if (!account) return;
    const policies = (["com.cloudflare.api.account", "com.cloudflare.api.account.zone"] as const)
      .map((scope) => ({
        effect: "allow",
        resources:
          scope === "com.cloudflare.api.account"
            ? { [`com.cloudflare.api.account.${account.id}`]: "*" }
            : { [`com.cloudflare.api.account.${account.id}`]: { "com.cloudflare.api.account.zone.*": "*" } },
        permission_groups: known.filter((group) => picked.has(group.name) && group.scopes.includes(scope)).map(({ id }) => ({ id })),
      }))
      .filter(({ permission_groups }) => permission_groups.length > 0);
    const condition = conditionOf(admitted, refused);
    const body = {
      name: name.trim(),
      policies,
      ...(condition ? { condition } : {}),
      ...(ends === "0" ? {} : { expires_on: secondsAgo(-Number(ends) * 86_400).replace(/\.\d+/, "") }),
    };
    write.mutate({ method: "POST", path: "/user/tokens", body });
  };
  const turn = (group: string): void =>
    setPicked((old) => new Set(old.has(group) ? [...old].filter((one) => one !== group) : [...old, group]));
  if (write.data)
    return (
      <Dialog title="The token" onClose={onClose} isFirm>
        <Notice tone="warn" title="Copy it now">
          Only its hash is stored: nobody can show it again.
        </Notice>
        <CopyBlock label="the token" text={write.data.result.value} />
        <Actions>
          <Button onClick={onClose}>I have it</Button>
        </Actions>
      </Dialog>
    );
  return (
    <FormDialog
      title="Create a token"
      onClose={onClose}
      size={560}
      submit="Create the token"
      onSubmit={submit}
      isPending={write.isPending}
      isDisabled={picked.size === 0}
      error={write.error}
    >
      <div className={tools["two"]}>
        <TextInput
          label="Name"
          placeholder="Deploys of the shop"
          value={name}
          onChange={({ currentTarget }) => setName(currentTarget.value)}
          required
          data-autofocus
        />
        <Choice label="Ends" value={ends} options={ENDS} onChange={setEnds} />
      </div>
      <TextInput
        label={`May do (${picked.size} chosen)`}
        placeholder="Search: DNS, cache, gateway …"
        value={search}
        onChange={({ currentTarget }) => setSearch(currentTarget.value)}
      />
      {groups.data ? (
        <ul className={css["groups"]} aria-label="Permissions" tabIndex={0}>
          {names
            .filter((one) => one.toLowerCase().includes(search.toLowerCase()))
            .map((one) => (
              <li key={one}>
                <label>
                  <input type="checkbox" checked={picked.has(one)} onChange={() => turn(one)} /> {one}
                  <i>{meaning(one)}</i>
                </label>
              </li>
            ))}
        </ul>
      ) : (
        <Loading />
      )}
      <AddressFields admitted={admitted} refused={refused} onAdmitted={setAdmitted} onRefused={setRefused} />
    </FormDialog>
  );
}

const meaning = (name: string): string =>
  name.endsWith(" Read")
    ? "sees"
    : name.endsWith(" Write")
      ? "sees and changes"
      : name.endsWith(" Run")
        ? "sends prompts"
        : name.endsWith(" Purge")
          ? "empties the cache"
          : "";
