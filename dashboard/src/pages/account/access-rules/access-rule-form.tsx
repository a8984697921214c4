import { Textarea, TextInput } from "@mantine/core";
import { useMutation, useQueryClient } from "@tanstack/react-query";
import { useState } from "react";
import { addressesOf } from "../../../api/addresses.ts";
import { api } from "../../../api/client.ts";
import { Choice } from "../../../parts/choice.tsx";
import { FormDialog } from "../../../parts/dialogs/form-dialog.tsx";
import { Fault, Notice } from "../../../parts/page.tsx";
import { number } from "../../../parts/time.tsx";
import { type Mode, MODES, targetOf } from "./access-words.ts";

interface FormProps {
  readonly base: string;
  /** Zones that the rules are for, in words. */
  readonly where: string;
  readonly onClose: () => void;
}

/** Adds each line by itself. Added lines leave the field, so that a refused one and those after it stay. */
export function AccessRuleForm({ base, where, onClose }: FormProps) {
  const client = useQueryClient();
  const [text, setText] = useState("");
  const [mode, setMode] = useState<Mode>("whitelist");
  const [notes, setNotes] = useState("");
  const values = addressesOf(text);
  const write = useMutation({
    mutationFn: async () => {
      for (const [at, value] of values.entries()) {
        const body = { mode, configuration: { target: targetOf(value), value }, notes: notes.trim() };
        try {
          await api("POST", base, body);
        } catch (error) {
          setText(values.slice(at).join("\n"));
          throw error;
        }
      }
    },
    onSuccess: onClose,
    onSettled: () => client.invalidateQueries({ predicate: ({ queryKey: [, path] }) => String(path).startsWith(base) }),
  });
  const submit = (): void => {
    write.mutate();
  };
  return (
    <FormDialog
      title="Add addresses"
      onClose={onClose}
      size={520}
      submit={<>Add {number(values.length, "rule")}</>}
      onSubmit={submit}
      isPending={write.isPending}
      isDisabled={values.length === 0}
    >
      <Textarea
        label="Addresses, networks or countries"
        description="One on each line: 192.0.2.1, 192.0.2.0/24, 2001:db8::/32, AS64496 or DE."
        rows={4}
        value={text}
        onChange={({ currentTarget }) => {
          write.reset();
          setText(currentTarget.value);
        }}
        error={
          write.error && (
            <>
              {values[0]}: <Fault error={write.error} />
            </>
          )
        }
        spellCheck={false}
        required
        data-autofocus
      />
      <Choice
        label="Action"
        value={mode}
        options={(Object.keys(MODES) as Mode[]).map((one) => [one, MODES[one].title] as const)}
        onChange={setMode}
      />
      {mode === "whitelist" && <Notice tone="warn">Visitors from there pass without any rule of the firewall, in {where}.</Notice>}
      <TextInput label="Notes" value={notes} onChange={({ currentTarget }) => setNotes(currentTarget.value)} maxLength={1024} />
    </FormDialog>
  );
}
