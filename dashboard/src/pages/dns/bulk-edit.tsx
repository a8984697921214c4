import { TextInput } from "@mantine/core";
import { useState } from "react";
import type { DnsRecord } from "#model/dns/dns-record.ts";
import { useWrite } from "../../api/hooks.ts";
import { Choice } from "../../parts/choice.tsx";
import { FormDialog } from "../../parts/dialogs/form-dialog.tsx";
import { Fault, Notice } from "../../parts/page.tsx";
import { count } from "../../parts/time.tsx";
import tools from "../../parts/tools.module.css";
import css from "./import.module.css";

interface BulkProps {
  readonly zoneId: string;
  readonly ids: ReadonlySet<string>;
  /** Those of them that were read already, to show what changes. */
  readonly known: readonly DnsRecord[];
  readonly onClose: () => void;
  readonly onDone: () => void;
}

const TTLS = [
  ["", "as it is"],
  ["1", "automatic"],
  ["60", "1 minute"],
  ["300", "5 minutes"],
  ["3600", "1 hour"],
  ["86400", "1 day"],
] as const;
const SHOWN_MAX = 8;

/** One change for all selected records: all of them get it at once, or none does. */
export function BulkEdit({ zoneId, ids, known, onClose, onDone }: BulkProps) {
  const [ttl, setTtl] = useState<string>("");
  const [proxied, setProxied] = useState<"" | "true" | "false">("");
  const [comment, setComment] = useState<string>();
  const write = useWrite<unknown>(`/zones/${zoneId}/dns_records`, `/zones/${zoneId}/dns_versions`);
  const change = {
    ...(ttl === "" ? {} : { ttl: Number(ttl) }),
    ...(proxied === "" ? {} : { proxied: proxied === "true" }),
    ...(comment === undefined ? {} : { comment }),
  };
  const names = Object.keys(change) as readonly (keyof typeof change)[];
  const submit = (): void => {
    const patches = [...ids].map((id) => ({ id, ...change }));
    write.mutate({ method: "POST", path: `/zones/${zoneId}/dns_records/batch`, body: { patches } }, { onSuccess: onDone });
  };
  const shown = known.slice(0, SHOWN_MAX);
  return (
    <FormDialog
      title={`Edit ${count(ids.size)} ${ids.size === 1 ? "record" : "records"}`}
      onClose={onClose}
      size={620}
      submit={
        <>
          Change {count(ids.size)} {ids.size === 1 ? "record" : "records"}
        </>
      }
      onSubmit={submit}
      isPending={write.isPending}
      isDisabled={names.length === 0}
    >
      <div className={tools["two"]}>
        <Choice label="TTL" value={ttl} options={TTLS} onChange={setTtl} />
        <Choice
          label="Traffic"
          value={proxied}
          options={[
            ["", "as it is"],
            ["true", "through the edge"],
            ["false", "DNS only"],
          ]}
          onChange={setProxied}
        />
      </div>
      <TextInput
        label="Comment"
        placeholder="as it is"
        value={comment ?? ""}
        onChange={({ currentTarget }) => setComment(currentTarget.value === "" ? undefined : currentTarget.value)}
      />
      {names.length > 0 && (
        <div>
          <p className={tools["label"]}>Changes</p>
          <ol className={css["diff"]} aria-label="Preview">
            {shown.flatMap((record) => {
              const of = (values: object): string =>
                `${record.name} ${record.type}  ${names.map((name) => `${name} ${String((values as Record<string, unknown>)[name] ?? "none")}`).join(", ")}`;
              return [
                <li key={`- ${record.id}`} data-action="removed">
                  {of(record)}
                </li>,
                <li key={`+ ${record.id}`}>{of(change)}</li>,
              ];
            })}
          </ol>
          {ids.size > shown.length && <p className={tools["quiet"]}>and {count(ids.size - shown.length)} more records</p>}
        </div>
      )}
      {write.error && (
        <Notice tone="bad" title="No record was changed">
          <Fault error={write.error} />
        </Notice>
      )}
    </FormDialog>
  );
}
