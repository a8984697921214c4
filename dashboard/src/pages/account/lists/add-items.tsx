import { Button, Textarea } from "@mantine/core";
import { type FormEvent, useState } from "react";
import type { RuleList } from "#model/rulesets/rule-list.ts";
import { Choice } from "../../../parts/choice.tsx";
import { Actions, Dialog } from "../../../parts/modal.tsx";
import { Fault, Notice } from "../../../parts/page.tsx";
import { count } from "../../../parts/time.tsx";
import tools from "../../../parts/tools.module.css";
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
  const submit = (event: FormEvent): void => {
    event.preventDefault();
    write.mutate({ method, items }, { onSuccess: onClose });
  };
  return (
    <Dialog title={`Add items to ${list.name}`} onClose={onClose}>
      <form className={tools["form"]} onSubmit={submit}>
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
        {write.error && (
          <Notice tone="bad">
            <Fault error={write.error} />
          </Notice>
        )}
        <Actions>
          <Button variant="default" onClick={onClose}>
            Cancel
          </Button>
          <Button type="submit" disabled={items.length === 0} loading={write.isPending} loaderProps={{ type: "dots" }}>
            {method === "PUT" ? "Replace with" : "Add"} {count(items.length)}
          </Button>
        </Actions>
      </form>
    </Dialog>
  );
}
