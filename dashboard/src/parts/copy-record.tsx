import { ActionIcon } from "@mantine/core";
import { useState } from "react";
import css from "./copy-record.module.css";
import { Icon } from "./icon.tsx";

/** A DNS record to make elsewhere: its name and its value are copied apart, as forms of other services want them. */
export function CopyRecord({ type, name, value }: { readonly type: string; readonly name: string; readonly value: string }) {
  return (
    <dl className={css["record"]} aria-label={`${type} record ${name}`}>
      <div>
        <dt>Type</dt>
        <dd>{type}</dd>
      </div>
      <Copied label="Name" text={name} />
      <Copied label="Value" text={value} />
    </dl>
  );
}

function Copied({ label, text }: { readonly label: string; readonly text: string }) {
  const [isCopied, setCopied] = useState(false);
  const copy = async (): Promise<void> => {
    await navigator.clipboard.writeText(text);
    setCopied(true);
    setTimeout(() => setCopied(false), 2000);
  };
  return (
    <div>
      <dt>{label}</dt>
      <dd>
        <code>{text}</code>
        <ActionIcon
          variant="subtle"
          color="gray"
          size="sm"
          aria-label={isCopied ? `${label} copied` : `Copy the ${label.toLowerCase()} ${text}`}
          onClick={() => void copy()}
        >
          <Icon name={isCopied ? "check" : "copy"} size={14} />
        </ActionIcon>
      </dd>
    </div>
  );
}
