import { Button } from "@mantine/core";
import type { ReactNode } from "react";
import { Actions, Dialog } from "./modal.tsx";
import { Fault, Notice } from "../page.tsx";
import tools from "../tools.module.css";

interface FormDialogProps {
  readonly title: string;
  /** Label of the button that submits the form. */
  readonly submit: ReactNode;
  readonly onSubmit: (form: HTMLFormElement) => void;
  readonly onClose: () => void;
  readonly isPending?: boolean;
  readonly isDisabled?: boolean;
  /** True for a submission that takes something away. */
  readonly isRed?: boolean;
  /** An error that belongs to no field. */
  readonly error?: Error | null;
  readonly size?: number;
  /** Buttons before that which cancels. */
  readonly actions?: ReactNode;
  readonly children: ReactNode;
}

/** A form in a dialog, mounted while it is open. */
export const FormDialog = ({
  submit,
  onSubmit,
  isPending = false,
  isDisabled,
  isRed,
  error,
  actions,
  children,
  ...dialog
}: FormDialogProps) => (
  <Dialog {...dialog}>
    <form
      className={tools["form"]}
      onSubmit={(event) => {
        event.preventDefault();
        onSubmit(event.currentTarget);
      }}
    >
      {children}
      {error && (
        <Notice tone="bad">
          <Fault error={error} />
        </Notice>
      )}
      <Actions>
        {actions}
        <Button variant="default" onClick={dialog.onClose}>
          Cancel
        </Button>
        <Button
          type="submit"
          loading={isPending}
          loaderProps={{ type: "dots" }}
          {...(isDisabled === undefined ? {} : { disabled: isDisabled })}
          {...(isRed === true ? { color: "red" } : {})}
        >
          {submit}
        </Button>
      </Actions>
    </form>
  </Dialog>
);
