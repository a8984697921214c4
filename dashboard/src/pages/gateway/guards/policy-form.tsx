import { Switch, TextInput } from "@mantine/core";
import { useState } from "react";
import type { DlpProfile } from "#model/gateways/dlp-profile.ts";
import type { DlpPolicy } from "#model/gateways/dlp.ts";
import { Choice } from "../../../parts/choice.tsx";
import { FormDialog } from "../../../parts/dialogs/form-dialog.tsx";
import tools from "../../../parts/tools.module.css";
import { AddWords } from "./add-words.tsx";

const SIDES = {
  both: ["REQUEST", "RESPONSE"],
  prompts: ["REQUEST"],
  answers: ["RESPONSE"],
} as const;
type Sides = keyof typeof SIDES;
const sidesOf = (check: DlpPolicy["check"]): Sides => (check.length > 1 ? "both" : check[0] === "RESPONSE" ? "answers" : "prompts");

interface FormProps {
  /** Undefined for a new one. */
  readonly policy: DlpPolicy | undefined;
  readonly taken: readonly string[];
  readonly profiles: readonly DlpProfile[];
  readonly accountId: string;
  readonly error: Error | null;
  readonly isPending: boolean;
  readonly onClose: () => void;
  readonly onSave: (policy: DlpPolicy) => void;
}

export function PolicyForm({ policy, taken, profiles, accountId, error, isPending, onClose, onSave }: FormProps) {
  const [id, setId] = useState(policy?.id ?? "");
  const [action, setAction] = useState<DlpPolicy["action"]>(policy?.action ?? "FLAG");
  const [sides, setSides] = useState<Sides>(policy ? sidesOf(policy.check) : "both");
  const [picked, setPicked] = useState<ReadonlySet<string>>(new Set(policy?.profiles));
  const [isOn, setOn] = useState(policy?.enabled ?? true);
  const isTaken = id.trim() !== policy?.id && taken.includes(id.trim());
  const turn = (profile: string): void =>
    setPicked((old) => new Set(old.has(profile) ? [...old].filter((one) => one !== profile) : [...old, profile]));
  const submit = (): void => {
    onSave({ id: id.trim(), enabled: isOn, action, check: [...SIDES[sides]], profiles: [...picked] });
  };
  return (
    <FormDialog
      title={policy ? `Edit the policy ${policy.id}` : "Add a policy"}
      onClose={onClose}
      size={560}
      submit={policy ? "Save" : "Add the policy"}
      onSubmit={submit}
      isPending={isPending}
      isDisabled={picked.size === 0 || isTaken}
      error={error}
    >
      <TextInput
        label="Name"
        placeholder="cards"
        value={id}
        onChange={({ currentTarget }) => setId(currentTarget.value)}
        error={isTaken && "Another policy of this gateway has the name."}
        maxLength={64}
        required
        data-autofocus
      />
      <fieldset className={tools["checks"]}>
        <legend className={tools["label"]}>Looks for</legend>
        {profiles.map(({ id: profile, name, entries }) => (
          <label key={profile} title={entries.map((entry) => entry.name).join(", ")}>
            <input type="checkbox" checked={picked.has(profile)} onChange={() => turn(profile)} /> {name}{" "}
            <span className={tools["quiet"]}>{entriesWords(entries.map((entry) => entry.name).filter((entry) => entry !== name))}</span>
          </label>
        ))}
      </fieldset>
      <AddWords accountId={accountId} onAdded={turn} />
      <div className={tools["two"]}>
        <Choice
          label="In"
          value={sides}
          options={[
            ["both", "prompts and answers"],
            ["prompts", "prompts"],
            ["answers", "answers"],
          ]}
          onChange={setSides}
        />
        <Choice
          label="Then"
          value={action}
          options={[
            ["FLAG", "flag: let it through and log it"],
            ["BLOCK", "block: answer with an error"],
          ]}
          onChange={setAction}
        />
      </div>
      <Switch label="On" checked={isOn} onChange={({ currentTarget }) => setOn(currentTarget.checked)} />
    </FormDialog>
  );
}

const SHOWN = 3;
const entriesWords = (names: readonly string[]): string =>
  names.length > SHOWN ? `${names.slice(0, SHOWN).join(", ")} and ${names.length - SHOWN} more` : names.join(", ");
