import { TextInput } from "@mantine/core";
import { useState } from "react";
import type { EvaluationType, GatewayDataset, GatewayEvaluation } from "#model/gateways/gateway-dataset.ts";
import { useWrite } from "../../../api/hooks.ts";
import { FormDialog } from "../../../parts/dialogs/form-dialog.tsx";
import tools from "../../../parts/tools.module.css";

interface FormProps {
  readonly base: string;
  readonly datasets: readonly GatewayDataset[];
  readonly types: readonly EvaluationType[];
  readonly onClose: () => void;
}

export function EvaluationForm({ base, datasets, types, onClose }: FormProps) {
  const [name, setName] = useState("");
  const [chosen, setChosen] = useState<ReadonlySet<string>>(new Set(datasets.slice(0, 1).map(({ id }) => id)));
  const [wanted, setWanted] = useState<ReadonlySet<string>>(new Set(types.map(({ id }) => id)));
  const write = useWrite<GatewayEvaluation>(base);
  const submit = (): void => {
    const body = { name: name.trim(), dataset_ids: [...chosen], evaluation_type_ids: [...wanted] };
    write.mutate({ method: "POST", path: `${base}/evaluations`, body }, { onSuccess: onClose });
  };
  return (
    <FormDialog
      title="Evaluate datasets"
      onClose={onClose}
      submit="Evaluate"
      onSubmit={submit}
      isPending={write.isPending}
      isDisabled={chosen.size === 0 || wanted.size === 0}
      error={write.error}
    >
      <TextInput
        label="Name"
        placeholder="Before the new prompt"
        value={name}
        onChange={({ currentTarget }) => setName(currentTarget.value)}
        required
        data-autofocus
      />
      <Choices title="Datasets" of={datasets} chosen={chosen} onChange={setChosen} />
      <Choices title="Figures" of={types} chosen={wanted} onChange={setWanted} />
    </FormDialog>
  );
}

interface ChoicesProps {
  readonly title: string;
  readonly of: readonly { readonly id: string; readonly name: string; readonly description?: string }[];
  readonly chosen: ReadonlySet<string>;
  readonly onChange: (chosen: ReadonlySet<string>) => void;
}

const Choices = ({ title, of, chosen, onChange }: ChoicesProps) => (
  <fieldset className={tools["checks"]}>
    <legend className={tools["label"]}>{title}</legend>
    {of.map(({ id, name, description }) => (
      <label key={id}>
        <input
          type="checkbox"
          checked={chosen.has(id)}
          onChange={({ currentTarget }) =>
            onChange(currentTarget.checked ? new Set([...chosen, id]) : new Set([...chosen].filter((one) => one !== id)))
          }
        />{" "}
        {name}
        {description !== undefined && <small className={tools["quiet"]}> {description}</small>}
      </label>
    ))}
  </fieldset>
);
