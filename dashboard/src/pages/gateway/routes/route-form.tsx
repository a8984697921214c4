import { Textarea, TextInput } from "@mantine/core";
import { useState } from "react";
import type { GatewayRoute } from "#model/gateways/gateway-route.ts";
import { useWrite } from "../../../api/hooks.ts";
import { Choice } from "../../../parts/choice.tsx";
import { FormDialog } from "../../../parts/dialogs/form-dialog.tsx";
import tools from "../../../parts/tools.module.css";
import { type RouteElement, TEMPLATES } from "./route-templates.ts";
import { RouteTree } from "./route-tree.tsx";

interface FormProps {
  /** Path of the gateway's routes. */
  readonly base: string;
  /** Undefined for a new one. */
  readonly route: GatewayRoute | undefined;
  readonly onClose: () => void;
}

/** A new route, which is deployed at once, or a new version of one, which is not. */
export function RouteForm({ base, route, onClose }: FormProps) {
  const [name, setName] = useState(route?.name ?? "");
  const [template, setTemplate] = useState(TEMPLATES[0]?.id ?? "");
  const [text, setText] = useState(() => written(route?.elements ?? TEMPLATES[0]?.elements ?? []));
  const write = useWrite<GatewayRoute>(base);
  const elements = elementsOf(text);
  const choose = (id: string): void => {
    setTemplate(id);
    setText(written(TEMPLATES.find((one) => one.id === id)?.elements ?? []));
  };
  const submit = (): void => {
    if (typeof elements === "string") return;
    const call =
      route === undefined
        ? { method: "POST" as const, path: base, body: { name: name.trim(), elements } }
        : { method: "POST" as const, path: `${base}/${route.id}/versions`, body: { elements } };
    write.mutate(call, { onSuccess: onClose });
  };
  return (
    <FormDialog
      title={route === undefined ? "Create a route" : `A new version of ${route.name}`}
      onClose={onClose}
      size={760}
      submit={route === undefined ? "Create and deploy" : "Create the version"}
      onSubmit={submit}
      isPending={write.isPending}
      isDisabled={typeof elements === "string"}
      error={write.error}
    >
      {route === undefined && (
        <div className={tools["two"]}>
          <TextInput
            label="Name"
            description="Applications ask for the model dynamic/NAME."
            placeholder="chat"
            value={name}
            onChange={({ currentTarget }) => setName(currentTarget.value)}
            spellCheck={false}
            required
            data-autofocus
          />
          <Choice
            label="Start with"
            description="Change the models and figures below."
            value={template}
            options={TEMPLATES.map(({ id, title }) => [id, title] as const)}
            onChange={choose}
          />
        </div>
      )}
      <Textarea
        label="Elements"
        classNames={{ input: tools["mono"] ?? "" }}
        rows={12}
        value={text}
        error={typeof elements === "string" ? elements : undefined}
        onChange={({ currentTarget }) => {
          setText(currentTarget.value);
          write.reset();
        }}
        spellCheck={false}
      />
      {typeof elements !== "string" && <RouteTree elements={elements} />}
    </FormDialog>
  );
}

const written = (elements: readonly RouteElement[]): string => JSON.stringify(elements, null, 2);

/** A sentence if the text is not a list of elements; the API checks everything else. */
function elementsOf(text: string): readonly RouteElement[] | string {
  try {
    const value: unknown = JSON.parse(text);
    const isList = Array.isArray(value) && value.every((one) => typeof one === "object" && one !== null && typeof one.id === "string");
    return isList ? (value as readonly RouteElement[]) : "A list of objects with id and type.";
  } catch (error) {
    return (error as Error).message;
  }
}
