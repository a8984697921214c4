import { Button, Switch, Textarea, TextInput } from "@mantine/core";
import { type FormEvent, useState } from "react";
import type { DnsRecord } from "#model/dns/dns-record.ts";
import { ApiError } from "../../api/client.ts";
import { useWrite } from "../../api/hooks.ts";
import { Choice } from "../../parts/choice.tsx";
import { Actions, Dialog } from "../../parts/modal.tsx";
import { Fault, Notice } from "../../parts/page.tsx";
import tools from "../../parts/tools.module.css";
import { hasPriority, RECORD_EXAMPLES, withPriority } from "./record-types.ts";

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
  const submit = (event: FormEvent): void => {
    event.preventDefault();
    const body = {
      type,
      name: name.trim() === "" ? "@" : name.trim(),
      ...(hasPriority(type) ? withPriority(type, content, Number(priority)) : { content }),
      ttl: Number(ttl),
      comment: comment === "" ? null : comment,
      ...(isTagged
        ? {
            tags: tags
              .split(",")
              .map((tag) => tag.trim())
              .filter(Boolean),
          }
        : {}),
      ...(PROXIABLE.has(type) ? { proxied: isProxied } : {}),
    };
    write.mutate(record ? { method: "PATCH", path: `${base}/${record.id}`, body } : { method: "POST", path: base, body }, {
      onSuccess: onDone,
    });
  };
  const faults = write.error instanceof ApiError ? write.error.byField() : {};
  const tagFault = Object.keys(faults).find((field) => field === "tags" || field.startsWith("tags."));
  const placed =
    tagFault !== undefined || ["type", "name", "content", "ttl", "priority", "proxied", "comment"].some((field) => faults[field]);
  const of = (field: string): string | undefined => faults[field] && `${faults[field].message} (${faults[field].code})`;
  const types = RECORD_EXAMPLES.some(([known]) => known === type) ? RECORD_EXAMPLES : [...RECORD_EXAMPLES, [type, ""] as const];
  return (
    <Dialog title={record ? `Edit ${record.type} ${record.name}` : "Add a record"} onClose={onClose} size={520}>
      <form className={tools["form"]} onSubmit={submit}>
        <div className={tools["two"]}>
          <Choice label="Type" value={type} options={types.map(([one]) => [one, one] as const)} onChange={setType} />
          <TextInput
            label="Name"
            placeholder="www, or @ for the zone itself"
            value={name}
            onChange={({ currentTarget }) => setName(currentTarget.value)}
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
          onChange={({ currentTarget }) => setContent(currentTarget.value)}
          error={of("content") ?? of("proxied") ?? of("type")}
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
            onChange={setTtl}
          />
          {hasPriority(type) && (
            <TextInput
              label="Priority"
              type="number"
              value={priority}
              onChange={({ currentTarget }) => setPriority(currentTarget.value)}
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
          onChange={({ currentTarget }) => setComment(currentTarget.value)}
          error={of("comment")}
        />
        {isTagged && (
          <TextInput
            label="Tags"
            description="Name and value with a colon, several with commas"
            placeholder="team:web, old"
            value={tags}
            onChange={({ currentTarget }) => setTags(currentTarget.value)}
            error={tagFault !== undefined && of(tagFault)}
            autoComplete="off"
            spellCheck={false}
          />
        )}
        {write.error && !placed && (
          <Notice tone="bad">
            <Fault error={write.error} />
          </Notice>
        )}
        <Actions>
          {record && (
            <Button
              variant="subtle"
              color="red"
              loading={remove.isPending}
              loaderProps={{ type: "dots" }}
              onClick={() => remove.mutate({ method: "DELETE", path: `${base}/${record.id}` }, { onSuccess: onDone })}
            >
              Delete
            </Button>
          )}
          <Button variant="default" onClick={onClose}>
            Cancel
          </Button>
          <Button type="submit" loading={write.isPending} loaderProps={{ type: "dots" }}>
            {record ? "Save" : "Add the record"}
          </Button>
        </Actions>
      </form>
    </Dialog>
  );
}
