import { ActionIcon, Button, Switch, Textarea, TextInput } from "@mantine/core";
import { useState } from "react";
import { Choice } from "../../parts/choice.tsx";
import { Icon } from "../../parts/icon.tsx";
import tools from "../../parts/tools.module.css";
import css from "./expression/expression-builder.module.css";
import type { ParameterField } from "./rule-phases.ts";

type Tree = { readonly [name: string]: unknown };

interface FieldsProps {
  readonly fields: readonly ParameterField[];
  readonly value: Tree;
  readonly onChange: (value: Tree) => void;
}

/** A form over some members of an object; the rest of the object stays. */
export function ParameterFields({ fields, value, onChange }: FieldsProps) {
  return (
    <div className={tools["two"]}>
      {fields.map((field) => {
        const { path, label, kind, options = [], hint } = field;
        const own = valueAt(value, path);
        const set = (next: unknown): void => onChange(withValue(value, path, next));
        const key = path.join(".");
        if (kind === "headers") return <HeaderRows key={key} label={label} hint={hint} value={(own ?? {}) as Headers} onChange={set} />;
        if (kind === "flag")
          return <Switch key={key} label={label} checked={own === true} onChange={({ currentTarget }) => set(currentTarget.checked)} />;
        if (kind === "choice")
          return (
            <Choice
              key={key}
              label={label}
              value={own === undefined ? "" : String(own)}
              options={options}
              onChange={(text) => set(text === "" ? undefined : /^\d+$/.test(text) ? Number(text) : text)}
            />
          );
        if (kind === "long")
          return (
            <Textarea
              key={key}
              label={label}
              description={hint}
              rows={3}
              value={own === undefined ? "" : String(own)}
              onChange={({ currentTarget }) => set(currentTarget.value || undefined)}
            />
          );
        return (
          <TextInput
            key={key}
            label={label}
            description={hint}
            value={Array.isArray(own) ? own.join(" ") : own === undefined ? "" : String(own)}
            inputMode={kind === "number" ? "numeric" : "text"}
            onChange={({ currentTarget: { value: text } }) => set(parsed(kind, text))}
            spellCheck={false}
            autoComplete="off"
          />
        );
      })}
    </div>
  );
}

function parsed(kind: ParameterField["kind"], text: string): unknown {
  if (text === "") return undefined;
  if (kind === "list") return text.split(/[\s,]+/);
  return kind === "number" && /^\d+$/.test(text) ? Number(text) : text;
}

const valueAt = (tree: unknown, [first, ...rest]: readonly string[]): unknown =>
  first === undefined ? tree : typeof tree === "object" && tree !== null ? valueAt((tree as Tree)[first], rest) : undefined;

/** Undefined takes the member away, and objects that are empty then. */
function withValue(tree: Tree, [first = "", ...rest]: readonly string[], value: unknown): Tree {
  const inner = rest.length === 0 ? value : withValue((tree[first] ?? {}) as Tree, rest, value);
  const isGone = inner === undefined || (rest.length > 0 && Object.keys(inner as Tree).length === 0);
  const { [first]: _old, ...others } = tree;
  return isGone ? others : { ...tree, [first]: inner };
}

type Headers = Readonly<Record<string, { readonly operation: string; readonly value?: string; readonly expression?: string }>>;

interface RowsProps {
  readonly label: string;
  readonly hint: string | undefined;
  readonly value: Headers;
  readonly onChange: (value: Headers) => void;
}

function HeaderRows({ label, hint, value, onChange }: RowsProps) {
  const [name, setName] = useState("");
  const rows = Object.entries(value);
  const put = (header: string, operation: string, text: string): void =>
    onChange({ ...value, [header]: operation === "remove" ? { operation } : { operation, value: text } });
  return (
    <div className={css["builder"]} data-span>
      <b className={tools["label"]}>{label}</b>
      {hint !== undefined && <p className={tools["quiet"]}>{hint}</p>}
      {rows.map(([header, { operation, value: text = "", expression }]) => (
        <div key={header} className={css["row"]}>
          <code>{header}</code>
          <Choice
            label={`Change of ${header}`}
            isQuiet
            value={operation}
            options={[
              ["set", "set to"],
              ["add", "add"],
              ["remove", "remove"],
            ]}
            onChange={(next) => put(header, next, text)}
          />
          {operation !== "remove" &&
            (expression === undefined ? (
              <TextInput
                size="xs"
                className={css["value"] ?? ""}
                aria-label={`Value of ${header}`}
                value={text}
                onChange={({ currentTarget }) => put(header, operation, currentTarget.value)}
              />
            ) : (
              <code>{expression}</code>
            ))}
          <ActionIcon
            variant="subtle"
            color="gray"
            aria-label={`Leave ${header} alone`}
            onClick={() => onChange(Object.fromEntries(rows.filter(([other]) => other !== header)))}
          >
            <Icon name="close" size={16} />
          </ActionIcon>
        </div>
      ))}
      <div className={css["row"]}>
        <TextInput
          size="xs"
          aria-label="Name of a header field"
          placeholder="X-Frame-Options"
          value={name}
          onChange={({ currentTarget }) => setName(currentTarget.value)}
        />
        <Button
          variant="default"
          disabled={name.trim() === ""}
          onClick={() => {
            put(name.trim(), "set", "");
            setName("");
          }}
        >
          Add a field
        </Button>
      </div>
    </div>
  );
}
