import { ActionIcon } from "@mantine/core";
import { useState } from "react";
import css from "./copy-block.module.css";
import { Icon } from "./icon.tsx";

/** Text to take elsewhere. */
export function CopyBlock({ text, label }: { readonly text: string; readonly label: string }) {
  const [isCopied, setCopied] = useState(false);
  const copy = async (): Promise<void> => {
    await navigator.clipboard.writeText(text);
    setCopied(true);
    setTimeout(() => setCopied(false), 2000);
  };
  return (
    <div className={css["block"]}>
      <pre tabIndex={0} role="group" aria-label={label}>
        {text}
      </pre>
      <ActionIcon variant="subtle" color="gray" aria-label={isCopied ? `${label} copied` : `Copy ${label}`} onClick={() => void copy()}>
        <Icon name={isCopied ? "check" : "copy"} size={16} />
      </ActionIcon>
    </div>
  );
}
