import { Button, Textarea, TextInput } from "@mantine/core";
import { useState } from "react";
import type { DlpProfile } from "#model/gateways/dlp-profile.ts";
import { useWrite } from "../../../api/hooks.ts";
import { Fault, Notice } from "../../../parts/page.tsx";
import tools from "../../../parts/tools.module.css";

interface AddProps {
  readonly accountId: string;
  readonly onAdded: (profile: string) => void;
}

/** A profile of the account's own words, such as names of projects. It stands within another form. */
export function AddWords({ accountId, onAdded }: AddProps) {
  const [isOpen, setOpen] = useState(false);
  const [name, setName] = useState("");
  const [text, setText] = useState("");
  const base = `/accounts/${accountId}/dlp/profiles`;
  const write = useWrite<DlpProfile>(base);
  const words = text
    .split("\n")
    .map((line) => line.trim())
    .filter(Boolean);
  const add = (): void =>
    write.mutate(
      { method: "POST", path: `${base}/custom`, body: { name: name.trim(), entries: [{ name: name.trim(), enabled: true, words }] } },
      {
        onSuccess: ({ result }) => {
          onAdded(result.id);
          setOpen(false);
        },
      },
    );
  if (!isOpen)
    return (
      <div>
        <Button size="xs" variant="default" onClick={() => setOpen(true)}>
          Words of your own
        </Button>
      </div>
    );
  return (
    <div className={tools["stack"]}>
      <TextInput
        label="Name of the words"
        placeholder="Projects"
        value={name}
        onChange={({ currentTarget }) => setName(currentTarget.value)}
        autoFocus
      />
      <Textarea
        label="Words"
        description="One on each line, of three characters or more. They match as whole words, in any case."
        placeholder="Project Falcon"
        rows={3}
        value={text}
        onChange={({ currentTarget }) => setText(currentTarget.value)}
      />
      {write.error && (
        <Notice tone="bad">
          <Fault error={write.error} />
        </Notice>
      )}
      <div className={tools["row"]}>
        <Button
          size="xs"
          variant="default"
          disabled={name.trim() === "" || words.length === 0}
          loading={write.isPending}
          loaderProps={{ type: "dots" }}
          onClick={add}
        >
          Keep the words
        </Button>
        <Button size="xs" variant="subtle" color="gray" onClick={() => setOpen(false)}>
          Cancel
        </Button>
      </div>
    </div>
  );
}
