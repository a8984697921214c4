import { Modal } from "@mantine/core";
import type { ReactNode } from "react";
import css from "./modal.module.css";

interface DialogProps {
  readonly title: string;
  readonly onClose: () => void;
  readonly children: ReactNode;
  readonly size?: number;
  /** True for a dialog that a click outside does not close. */
  readonly isFirm?: boolean;
}

/** Mounted while it is open. */
export const Dialog = ({ title, onClose, children, size = 480, isFirm = false }: DialogProps) => (
  <Modal.Root opened onClose={onClose} size={size} closeOnClickOutside={!isFirm} closeOnEscape={!isFirm}>
    <Modal.Overlay backgroundOpacity={0.4} />
    <Modal.Content aria-label={title}>
      <div className={css["head"]}>
        <h2>{title}</h2>
        {!isFirm && <Modal.CloseButton aria-label="Close" />}
      </div>
      <div className={css["body"]}>{children}</div>
    </Modal.Content>
  </Modal.Root>
);

/** Actions at the end of a form, the main one last. */
export const Actions = ({ children }: { readonly children: ReactNode }) => <div className={css["actions"]}>{children}</div>;
