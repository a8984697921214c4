import { TextInput } from "@mantine/core";
import { type FocusEvent, type KeyboardEvent, type ReactNode, useState } from "react";
import type { DnsRecord } from "#model/dns/dns-record.ts";
import { ApiError, type ApiFault } from "../../api/client.ts";
import { useTrial } from "../../api/use-trial.ts";
import { Choice } from "../../parts/choice.tsx";
import type { Change, RowActions } from "./record-row.tsx";
import { hasPriority, RECORD_TYPES, tagsOf, withPriority } from "./record-types.ts";
import css from "./records.module.css";

interface EditorProps {
  readonly zoneId: string;
  readonly record: DnsRecord;
  readonly actions: RowActions;
}

interface FrameProps extends EditorProps {
  readonly change: Change;
  readonly children: (fault: string | undefined) => ReactNode;
}

const said = ({ message, code }: ApiFault): string => `${message} (${code})`;

/** Fields in a row. Enter and leaving them save; the API's word on what is typed hangs below, over the rows. */
function EditorFrame({ zoneId, record, actions, change, children }: FrameProps) {
  const [refused, setRefused] = useState<{ readonly text: string; readonly why: string }>();
  const text = JSON.stringify(change);
  const isChanged = Object.entries(change).some(
    ([name, value]) => JSON.stringify(record[name as keyof DnsRecord]) !== JSON.stringify(value),
  );
  const path = `/zones/${zoneId}/dns_records/${record.id}`;
  const { faults } = useTrial(isChanged ? { method: "PATCH", path, body: change } : undefined);
  const [tried] = Object.values(faults);
  const fault = refused?.text === text ? refused.why : tried && said(tried);
  const save = async (): Promise<void> => {
    if (!isChanged) return actions.leave();
    try {
      await actions.save(record, change);
      actions.leave();
    } catch (error) {
      const [first] = error instanceof ApiError ? error.faults : [];
      setRefused({ text, why: first ? said(first) : (error as Error).message });
    }
  };
  const onKey = (event: KeyboardEvent): void => {
    event.stopPropagation();
    if (event.key === "Enter") void save();
    if (event.key === "Escape") actions.leave();
  };
  const onBlur = (event: FocusEvent): void => {
    const isWithin = event.currentTarget.contains(event.relatedTarget);
    if (!isWithin && document.hasFocus() && fault === undefined) void save();
  };
  return (
    <div className={css["editor"]} onKeyDown={onKey} onBlur={onBlur}>
      {children(fault)}
    </div>
  );
}

const classNames = { error: css["fault"] ?? "" };

/** The name or the content. */
export function TextEditor({ field, ...props }: EditorProps & { readonly field: "name" | "content" }) {
  const { type, name, [field]: before } = props.record;
  const [text, setText] = useState(before);
  return (
    <EditorFrame {...props} change={{ [field]: text }}>
      {(fault) => (
        <TextInput
          size="xs"
          aria-label={`${field === "name" ? "Name" : "Content"} of ${type} ${name}`}
          value={text}
          error={fault}
          classNames={classNames}
          autoFocus
          onFocus={(event) => event.currentTarget.select()}
          onChange={(event) => setText(event.currentTarget.value)}
          spellCheck={false}
        />
      )}
    </EditorFrame>
  );
}

/** The type, with the content that another type needs. */
export function TypeEditor(props: EditorProps) {
  const { type: before, name, content: had, priority = 10 } = props.record;
  const [type, setType] = useState(before);
  const [content, setContent] = useState(had);
  const types = RECORD_TYPES.includes(before) ? RECORD_TYPES : [...RECORD_TYPES, before];
  return (
    <EditorFrame
      {...props}
      change={{ type, ...(hasPriority(type) && type !== before ? withPriority(type, content, priority) : { content }) }}
    >
      {(fault) => (
        <div className={css["typed"]}>
          <Choice
            label={`Type of ${before} ${name}`}
            isQuiet
            value={type}
            options={types.map((one) => [one, one] as const)}
            onChange={setType}
            isFocused
          />
          <TextInput
            size="xs"
            aria-label={`Content of ${type} ${name}`}
            value={content}
            error={fault}
            classNames={classNames}
            onChange={(event) => setContent(event.currentTarget.value)}
            spellCheck={false}
          />
        </div>
      )}
    </EditorFrame>
  );
}

/** The comment, and below it the tags, where the zone's plan has some. */
export function NoteEditor({ hasTags, ...props }: EditorProps & { readonly hasTags: boolean }) {
  const { type, name, comment: before, tags: had } = props.record;
  const [comment, setComment] = useState(before ?? "");
  const [tags, setTags] = useState(had.join(", "));
  const isTagged = hasTags || had.length > 0;
  return (
    <EditorFrame {...props} change={{ comment: comment === "" ? null : comment, ...(isTagged ? { tags: tagsOf(tags) } : {}) }}>
      {(fault) => (
        <>
          <TextInput
            size="xs"
            aria-label={`Comment of ${type} ${name}`}
            placeholder="Comment"
            value={comment}
            error={isTagged ? undefined : fault}
            classNames={classNames}
            autoFocus
            onChange={(event) => setComment(event.currentTarget.value)}
          />
          {isTagged && (
            <div className={css["tags"]}>
              <TextInput
                size="xs"
                aria-label={`Tags of ${type} ${name}`}
                placeholder="Tags: team:web, old"
                value={tags}
                error={fault}
                classNames={classNames}
                onChange={(event) => setTags(event.currentTarget.value)}
                spellCheck={false}
              />
            </div>
          )}
        </>
      )}
    </EditorFrame>
  );
}
