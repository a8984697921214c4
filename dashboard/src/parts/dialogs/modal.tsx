import { Drawer, Modal } from "@mantine/core";
import { type ReactNode, useEffect, useState } from "react";
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
export const Dialog = ({ title, onClose, children, size = 480, isFirm = false }: DialogProps) => {
  useFocusBack();
  return (
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
};

interface PanelProps {
  readonly title: string;
  readonly size: number;
  readonly onClose: () => void;
  readonly children: ReactNode;
}

/** A dialog along the right edge of the window. */
export const Panel = ({ title, children, ...edge }: PanelProps) => (
  <Edge title={title} position="right" {...edge}>
    <div className={css["head"]}>
      <h2>{title}</h2>
      <Drawer.CloseButton aria-label="Close" />
    </div>
    <div className={css["body"]}>{children}</div>
  </Edge>
);

/** A dialog along an edge of the window, with nothing but its children in it. */
export const Edge = ({ title, size, onClose, children, position = "left" }: PanelProps & { readonly position?: "left" | "right" }) => {
  useFocusBack();
  return (
    <Drawer.Root opened onClose={onClose} position={position} size={size}>
      <Drawer.Overlay backgroundOpacity={0.4} />
      <Drawer.Content aria-label={title}>{children}</Drawer.Content>
    </Drawer.Root>
  );
};

/** An unmounted dialog leaves the focus nowhere: whatever had it before gets it back, unless something else has taken it. */
function useFocusBack(): void {
  const [before] = useState(() => document.activeElement);
  useEffect(() => {
    const giveBack = (): void => {
      const isNowhere = document.activeElement === null || document.activeElement === document.body;
      if (isNowhere && before instanceof HTMLElement && before.isConnected) before.focus({ preventScroll: true });
    };
    return () => void setTimeout(giveBack);
  }, [before]);
}

/** Actions at the end of a form, the main one last. */
export const Actions = ({ children }: { readonly children: ReactNode }) => <div className={css["actions"]}>{children}</div>;
