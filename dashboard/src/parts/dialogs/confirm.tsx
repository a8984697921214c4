import { TextInput } from "@mantine/core";
import { type ReactNode, useState } from "react";
import { FormDialog } from "./form-dialog.tsx";
import tools from "../tools.module.css";

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
  const submit = (): void => {
    onConfirm();
  };
  return (
    <FormDialog
      title={title}
      onClose={onClose}
      submit={action}
      onSubmit={submit}
      isPending={isPending}
      isDisabled={typed !== undefined && text.trim() !== typed}
      isRed
      error={error}
    >
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
    </FormDialog>
  );
}
