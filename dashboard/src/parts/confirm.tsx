import { Button, TextInput } from "@mantine/core";
import { type FormEvent, type ReactNode, useState } from "react";
import { Actions, Dialog } from "./modal.tsx";
import { Fault, Notice } from "./page.tsx";
import tools from "./tools.module.css";

interface ConfirmProps {
  readonly title: string;
  readonly action: string;
  readonly children: ReactNode;
  /** The text to type before an action that cannot be undone. */
  readonly typed?: string;
  readonly error: Error | null;
  readonly isPending: boolean;
  readonly onClose: () => void;
  readonly onConfirm: () => void;
}

export function Confirm({ title, action, children, typed, error, isPending, onClose, onConfirm }: ConfirmProps) {
  const [text, setText] = useState("");
  const submit = (event: FormEvent): void => {
    event.preventDefault();
    onConfirm();
  };
  return (
    <Dialog title={title} onClose={onClose}>
      <form className={tools["form"]} onSubmit={submit}>
        <p className={tools["hint"]}>{children}</p>
        {typed !== undefined && (
          <TextInput
            label={`Type ${typed} to go on`}
            value={text}
            onChange={({ currentTarget }) => setText(currentTarget.value)}
            autoComplete="off"
            spellCheck={false}
            data-autofocus
          />
        )}
        {error && (
          <Notice tone="bad">
            <Fault error={error} />
          </Notice>
        )}
        <Actions>
          <Button variant="default" onClick={onClose}>
            Cancel
          </Button>
          <Button
            type="submit"
            color="red"
            disabled={typed !== undefined && text.trim() !== typed}
            loading={isPending}
            loaderProps={{ type: "dots" }}
          >
            {action}
          </Button>
        </Actions>
      </form>
    </Dialog>
  );
}
