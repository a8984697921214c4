import { memo, type ReactNode } from "react";
import type { DnsRecord } from "#model/dns/dns-record.ts";
import { Icon } from "../../parts/icon.tsx";
import { shownName } from "../../api/names.ts";
import { duration, Time } from "../../parts/time.tsx";
import { NoteEditor, TextEditor, TypeEditor } from "./record-editors.tsx";
import { hasPriority } from "./record-types.ts";
import css from "./records.module.css";

export type Field = "type" | "name" | "content" | "note";
export type Change = Partial<Pick<DnsRecord, "type" | "name" | "content" | "priority" | "proxied" | "comment" | "tags">>;

export interface RowActions {
  pick(id: string): void;
  edit(id: string, field: Field): void;
  save(record: DnsRecord, change: Change): Promise<unknown>;
  leave(): void;
  open(record: DnsRecord): void;
}

interface RowProps {
  readonly record: DnsRecord | undefined;
  readonly index: number;
  readonly start: number;
  readonly height: number;
  readonly isActive: boolean;
  readonly isPicked: boolean;
  readonly editing: Field | undefined;
  readonly zone: string;
  readonly zoneId: string;
  readonly hasTags: boolean;
  readonly actions: RowActions;
}

export const RecordRow = memo(function RecordRow({ record, index, start, height, isActive, isPicked, editing, actions, ...of }: RowProps) {
  const { zone, zoneId, hasTags } = of;
  const place = { transform: `translateY(${start}px)`, height };
  if (!record)
    return (
      <div role="row" aria-rowindex={index + 2} className={css["row"]} style={place}>
        {[0, 1, 2].map((i) => (
          <span key={i} role="gridcell" className={css["ghost"]} aria-label="Loading" />
        ))}
      </div>
    );
  const { id, type, name, content, proxied, proxiable, ttl, comment, modified_on: changed } = record;
  const short = name === zone ? "@" : name.endsWith(`.${zone}`) ? shownName(name.slice(0, -zone.length - 1)) : shownName(name);
  const editor = { zoneId, record, actions };
  const cell = (field: "name" | "content", shown: ReactNode): ReactNode =>
    editing === field ? (
      <TextEditor {...editor} field={field} />
    ) : (
      <span className={css["value"]} title={record[field]} onDoubleClick={() => actions.edit(id, field)}>
        {shown}
      </span>
    );
  return (
    <div
      role="row"
      aria-rowindex={index + 2}
      aria-selected={isPicked}
      data-index={index}
      tabIndex={isActive ? 0 : -1}
      className={css["row"]}
      data-picked={isPicked || undefined}
      data-editing={editing}
      style={place}
    >
      <span role="gridcell" className={css["pick"]}>
        <input type="checkbox" checked={isPicked} onChange={() => actions.pick(id)} aria-label={`Select ${type} ${name}`} tabIndex={-1} />
      </span>
      <span role="gridcell" className={css["type"]} title={type} onDoubleClick={() => actions.edit(id, "type")}>
        {type}
      </span>
      <span role="gridcell" className={css["name"]}>
        {cell(
          "name",
          <>
            {short}
            {short !== "@" && short !== name && <span className={css["apex"]}>.{zone}</span>}
          </>,
        )}
      </span>
      <span role="gridcell" className={`${css["content"]} num`}>
        {editing === "type" ? (
          <TypeEditor {...editor} />
        ) : (
          cell("content", hasPriority(type) ? `${record.priority ?? 0} ${content}` : content)
        )}
      </span>
      <span role="gridcell" className={css["traffic"]}>
        {proxiable ? (
          <button
            type="button"
            className={css["proxy"]}
            data-on={proxied || undefined}
            tabIndex={-1}
            aria-label={`${proxied ? "Edge" : "DNS only"}: ${name}`}
            onClick={() => void actions.save(record, { proxied: !proxied })}
          >
            <Icon name="edge" size={16} />
            {proxied ? "Edge" : "DNS only"}
          </button>
        ) : (
          <span className={css["never"]}>DNS only</span>
        )}
      </span>
      <span role="gridcell" className={`${css["ttl"]} num`}>
        {ttl === 1 ? "Auto" : duration(ttl)}
      </span>
      <span role="gridcell" className={css["note"]}>
        {editing === "note" ? (
          <NoteEditor {...editor} hasTags={hasTags} />
        ) : (
          <span className={css["value"]} title={comment ?? undefined} onDoubleClick={() => actions.edit(id, "note")}>
            {[comment, ...record.tags.map((tag) => `#${tag}`)].filter(Boolean).join(" ")}
          </span>
        )}
      </span>
      <span role="gridcell" className={`${css["changed"]} num`}>
        <button type="button" className={css["more"]} tabIndex={-1} onClick={() => actions.open(record)}>
          <span className="unseen">
            Edit {type} {name}, changed
          </span>
          <Time of={changed} as="day" />
          <Icon name="edit" size={14} />
        </button>
      </span>
    </div>
  );
});
