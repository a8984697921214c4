import { Textarea } from "@mantine/core";
import { useState } from "react";
import type { RuleList } from "#model/rulesets/rule-list.ts";
import { Choice } from "../../../parts/choice.tsx";
import { FormDialog } from "../../../parts/dialogs/form-dialog.tsx";
import { count } from "../../../parts/time.tsx";
import { itemsOf, KINDS } from "./items.ts";
import { useItemsWrite } from "./use-items-write.ts";

const WAYS = [
  ["POST", "keep the other items"],
  ["PUT", "replace all items"],
] as const;

interface AddProps {
  readonly base: string;
  readonly list: RuleList;
  readonly onClose: () => void;
}

export function AddItems({ base, list, onClose }: AddProps) {
  const [text, setText] = useState("");
  const [method, setMethod] = useState<"POST" | "PUT">("POST");
  const write = useItemsWrite(base, list.id);
  const items = itemsOf(list.kind, text);
  const submit = (): void => {
    write.mutate({ method, items }, { onSuccess: onClose });
  };
  return (
    <FormDialog
      title={`Add items to ${list.name}`}
      onClose={onClose}
      submit={
        <>
          {method === "PUT" ? "Replace with" : "Add"} {count(items.length)}
        </>
      }
      onSubmit={submit}
      isPending={write.isPending}
      isDisabled={items.length === 0}
      error={write.error}
    >
      <Textarea
        label="Items"
        description="One on each line. Text after # is its comment."
        placeholder={`${KINDS[list.kind].line} # Berlin`}
        rows={8}
        value={text}
        onChange={({ currentTarget }) => setText(currentTarget.value)}
        spellCheck={false}
        required
        data-autofocus
      />
      <Choice label="And" value={method} options={WAYS} onChange={setMethod} />
    </FormDialog>
  );
}
