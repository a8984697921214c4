import { ActionIcon, Button, TextInput } from "@mantine/core";
import { useState } from "react";
import type { GatewayDataset } from "#model/gateways/gateway-dataset.ts";
import type { GatewayLogFilter } from "#model/gateways/gateway-log-filter.ts";
import { useWrite } from "../../../api/hooks.ts";
import { Choice } from "../../../parts/choice.tsx";
import { FormDialog } from "../../../parts/dialogs/form-dialog.tsx";
import { Icon } from "../../../parts/icon.tsx";
import tools from "../../../parts/tools.module.css";

type Key = GatewayLogFilter["key"];
type Operator = GatewayLogFilter["operator"];

interface Row {
  readonly key: Key;
  readonly operator: Operator;
  readonly value: string;
}

const KEYS: readonly (readonly [Key, string])[] = [
  ["model", "Model"],
  ["provider", "Provider"],
  ["metadata.key", "Metadata key"],
  ["metadata.value", "Metadata value"],
  ["success", "Success (true or false)"],
  ["cached", "Cached (true or false)"],
  ["cost", "Cost in dollars"],
  ["tokens", "Tokens"],
  ["duration", "Duration in ms"],
  ["feedback", "Feedback (1 or -1)"],
];
const OPERATORS: readonly (readonly [Operator, string])[] = [
  ["eq", "is"],
  ["neq", "is not"],
  ["contains", "contains"],
  ["gt", "above"],
  ["lt", "below"],
];
const FIRST: Row = { key: "model", operator: "eq", value: "" };

export function DatasetForm({ base, onClose }: { readonly base: string; readonly onClose: () => void }) {
  const [name, setName] = useState("");
  const [rows, setRows] = useState<readonly Row[]>([FIRST]);
  const write = useWrite<GatewayDataset>(base);
  const change = (at: number, part: Partial<Row>): void => setRows(rows.map((row, i) => (i === at ? { ...row, ...part } : row)));
  const submit = (): void => {
    const filters = rows
      .filter(({ value }) => value.trim() !== "")
      .map(({ value, ...row }) => ({ ...row, value: [valueOf(row.key, value.trim())] }));
    write.mutate({ method: "POST", path: `${base}/datasets`, body: { name: name.trim(), enable: true, filters } }, { onSuccess: onClose });
  };
  return (
    <FormDialog
      title="Create a dataset"
      onClose={onClose}
      size={640}
      submit="Create the dataset"
      onSubmit={submit}
      isPending={write.isPending}
      error={write.error}
    >
      <TextInput
        label="Name"
        placeholder="Search team in production"
        value={name}
        onChange={({ currentTarget }) => setName(currentTarget.value)}
        required
        data-autofocus
      />
      <div className={tools["stack"]}>
        <h2>Requests with</h2>
        {rows.map((row, at) => (
          // Rows have no identifier.
          // oxlint-disable-next-line no-array-index-key
          <div key={at} className={tools["row"]}>
            <Choice label={`Field of filter ${at + 1}`} isQuiet value={row.key} options={KEYS} onChange={(key) => change(at, { key })} />
            <Choice
              label={`Comparison of filter ${at + 1}`}
              isQuiet
              value={row.operator}
              options={OPERATORS}
              onChange={(operator) => change(at, { operator })}
            />
            <TextInput
              className={tools["grow"] ?? ""}
              aria-label={`Value of filter ${at + 1}`}
              size="xs"
              value={row.value}
              onChange={({ currentTarget }) => change(at, { value: currentTarget.value })}
              spellCheck={false}
            />
            <ActionIcon
              variant="subtle"
              color="gray"
              aria-label={`Remove filter ${at + 1}`}
              onClick={() => setRows(rows.filter((_, i) => i !== at))}
            >
              <Icon name="close" size={16} />
            </ActionIcon>
          </div>
        ))}
        <div>
          <Button size="xs" variant="default" onClick={() => setRows([...rows, FIRST])}>
            Add a filter
          </Button>
        </div>
        <p className={tools["hint"]}>All filters must hold. Without a filter the dataset has every request.</p>
      </div>
    </FormDialog>
  );
}

const NUMBERS: ReadonlySet<Key> = new Set<Key>(["cost", "tokens", "duration", "feedback"]);
const BOOLEANS: ReadonlySet<Key> = new Set<Key>(["success", "cached"]);

/** Sends any other value as text, so that the API names the error. */
function valueOf(key: Key, text: string): string | number | boolean {
  if (NUMBERS.has(key) && text !== "" && Number.isFinite(Number(text))) return Number(text);
  if (BOOLEANS.has(key) && (text === "true" || text === "false")) return text === "true";
  return text;
}
