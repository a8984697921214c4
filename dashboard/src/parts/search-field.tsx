import { TextInput } from "@mantine/core";
import { useEffect, useState } from "react";
import { Icon } from "./icon.tsx";
import tools from "./tools.module.css";

const REST_MS = 150;

interface SearchFieldProps {
  readonly label: string;
  readonly placeholder: string;
  readonly asked: string | undefined;
  readonly onAsk: (text: string | undefined) => void;
}

/**
 * The search field of a list: the text is drawn at once, and asked for when the typing rests.
 * The field keeps the text itself, so that a key does not render the page around it.
 */
export function SearchField({ label, placeholder, asked, onAsk }: SearchFieldProps) {
  const [typed, setTyped] = useState(asked ?? "");
  // Back, or a chip's cross, changes what is asked for.
  useEffect(() => void setTyped((old) => (old.trim() === (asked ?? "") ? old : (asked ?? ""))), [asked]);
  useEffect(() => {
    const timer = setTimeout(() => typed.trim() !== (asked ?? "") && onAsk(typed.trim() || undefined), REST_MS);
    return () => clearTimeout(timer);
  }, [typed]);
  return (
    <TextInput
      data-search
      size="xs"
      className={tools["find"] ?? ""}
      placeholder={placeholder}
      aria-label={label}
      leftSection={<Icon name="search" size={16} />}
      value={typed}
      onChange={({ currentTarget }) => setTyped(currentTarget.value)}
      spellCheck={false}
    />
  );
}
