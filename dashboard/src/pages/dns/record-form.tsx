import { Button, Switch, Textarea, TextInput } from "@mantine/core";
import { useState } from "react";
import type { DnsRecord } from "#model/dns/dns-record.ts";
import { ApiError } from "../../api/client.ts";
import { useWrite, type Write } from "../../api/hooks.ts";
import { useTrial } from "../../api/use-trial.ts";
import { Choice } from "../../parts/choice.tsx";
import { FormDialog } from "../../parts/dialogs/form-dialog.tsx";
import { Fault, Notice } from "../../parts/page.tsx";
import tools from "../../parts/tools.module.css";
import { hasPriority, RECORD_EXAMPLES, tagsOf, withPriority } from "./record-types.ts";

const PROXIABLE: ReadonlySet<string> = new Set(["A", "AAAA", "CNAME"]);
const TTLS = [
  ["1", "Auto (5 minutes)"],
  ["60", "1 minute"],
  ["300", "5 minutes"],
  ["3600", "1 hour"],
  ["86400", "1 day"],
] as const;

interface FormProps {
  readonly zoneId: string;
  /** Whether the zone's plan has tags. */
  readonly hasTags: boolean;
  /** Undefined for a new one. */
  readonly record: DnsRecord | undefined;
  readonly onClose: () => void;
  readonly onDone: () => void;
}

export function RecordForm({ zoneId, hasTags, record, onClose, onDone }: FormProps) {
  const [type, setType] = useState(record?.type ?? "A");
  const [name, setName] = useState(record?.name ?? "");
  const [content, setContent] = useState(record?.content ?? "");
  const [ttl, setTtl] = useState(String(record?.ttl ?? 1));
  const [priority, setPriority] = useState(String(record?.priority ?? 10));
  const [isProxied, setProxied] = useState(record?.proxied ?? false);
  const [comment, setComment] = useState(record?.comment ?? "");
  const [tags, setTags] = useState(record?.tags.join(", ") ?? "");
  const isTagged = hasTags || (record?.tags.length ?? 0) > 0;
  const write = useWrite<DnsRecord>(`/zones/${zoneId}/dns_records`);
  const remove = useWrite<{ id: string }>(`/zones/${zoneId}/dns_records`);
  const base = `/zones/${zoneId}/dns_records`;
  const body = {
    type,
    name: name.trim() === "" ? "@" : name.trim(),
    ...(hasPriority(type) ? withPriority(type, content, Number(priority)) : { content }),
    ttl: Number(ttl),
    comment: comment === "" ? null : comment,
    ...(isTagged ? { tags: tagsOf(tags) } : {}),
    ...(PROXIABLE.has(type) ? { proxied: isProxied } : {}),
  };
  const sent: Write = record ? { method: "PATCH", path: `${base}/${record.id}`, body } : { method: "POST", path: base, body };
  const [typed, setTyped] = useState<ReadonlySet<string>>(new Set());
  const trial = useTrial(typed.size > 0 && content.trim() !== "" ? sent : undefined);
  const submit = (): void => {
    write.mutate(sent, { onSuccess: onDone });
  };
  /** An error from before is of another text. */
  const takes =
    (field: string, set: (text: string) => void) =>
    (text: string): void => {
      write.reset();
      setTyped((old) => new Set(old).add(field));
      set(text);
    };
  const refused = write.error instanceof ApiError ? write.error.byField() : undefined;
  const faults = refused ?? trial.faults;
  const tagFault = Object.keys(faults).find((field) => field === "tags" || field.startsWith("tags."));
  const placed =
    tagFault !== undefined || ["type", "name", "content", "ttl", "priority", "proxied", "comment"].some((field) => faults[field]);
  /** A trial says nothing of fields that nobody has typed in yet. */
  const of = (field: string, typedIn = field): string | undefined =>
    faults[field] && (refused || typed.has(typedIn)) ? `${faults[field].message} (${faults[field].code})` : undefined;
  const whole = trial.faults[""];
  const types = RECORD_EXAMPLES.some(([known]) => known === type) ? RECORD_EXAMPLES : [...RECORD_EXAMPLES, [type, ""] as const];
  return (
    <FormDialog
      title={record ? `Edit ${record.type} ${record.name}` : "Add a record"}
      onClose={onClose}
      size={520}
      submit={record ? "Save" : "Add the record"}
      onSubmit={submit}
      isPending={write.isPending}
      actions={
        record && (
          <Button
            variant="subtle"
            color="red"
            loading={remove.isPending}
            loaderProps={{ type: "dots" }}
            onClick={() => remove.mutate({ method: "DELETE", path: `${base}/${record.id}` }, { onSuccess: onDone })}
          >
            Delete
          </Button>
        )
      }
    >
      <div className={tools["two"]}>
        <Choice label="Type" value={type} options={types.map(([one]) => [one, one] as const)} onChange={takes("type", setType)} />
        <TextInput
          label="Name"
          placeholder="www, or @ for the zone itself"
          value={name}
          onChange={({ currentTarget }) => takes("name", setName)(currentTarget.value)}
          onBlur={trial.now}
          error={of("name")}
          autoComplete="off"
          spellCheck={false}
          data-autofocus
        />
      </div>
      <Textarea
        label="Content"
        description={type === "CNAME" ? "The name to resolve instead." : undefined}
        placeholder={types.find(([one]) => one === type)?.[1] ?? ""}
        value={content}
        onChange={({ currentTarget }) => takes("content", setContent)(currentTarget.value)}
        onBlur={trial.now}
        error={of("content") ?? of("proxied", "content") ?? of("type", "content")}
        autoComplete="off"
        spellCheck={false}
        rows={type === "TXT" ? 3 : 1}
        required
      />
      <div className={tools["two"]}>
        <Choice
          label="TTL"
          value={ttl}
          options={TTLS.some(([one]) => one === ttl) ? TTLS : [...TTLS, [ttl, `${ttl} seconds`] as const]}
          onChange={takes("ttl", setTtl)}
        />
        {hasPriority(type) && (
          <TextInput
            label="Priority"
            type="number"
            value={priority}
            onChange={({ currentTarget }) => takes("priority", setPriority)(currentTarget.value)}
            onBlur={trial.now}
            error={of("priority")}
          />
        )}
      </div>
      {PROXIABLE.has(type) && (
        <Switch
          checked={isProxied}
          onChange={({ currentTarget }) => setProxied(currentTarget.checked)}
          label="Send traffic through the edge"
          description={
            isProxied
              ? "Visitors reach the edge, which protects, caches and has the certificate. The edge reaches the origin."
              : "DNS only: the nameserver answers with the content, and visitors reach it directly."
          }
        />
      )}
      <TextInput
        label="Comment"
        value={comment}
        onChange={({ currentTarget }) => takes("comment", setComment)(currentTarget.value)}
        onBlur={trial.now}
        error={of("comment")}
      />
      {isTagged && (
        <TextInput
          label="Tags"
          description="Name and value with a colon, several with commas"
          placeholder="team:web, old"
          value={tags}
          onChange={({ currentTarget }) => takes("tags", setTags)(currentTarget.value)}
          onBlur={trial.now}
          error={tagFault !== undefined && of(tagFault, "tags")}
          autoComplete="off"
          spellCheck={false}
        />
      )}
      {!write.error && whole && typed.has("content") && <Notice tone="bad">{`${whole.message} (${whole.code})`}</Notice>}
      {write.error && !placed && (
        <Notice tone="bad">
          <Fault error={write.error} />
        </Notice>
      )}
    </FormDialog>
  );
}
