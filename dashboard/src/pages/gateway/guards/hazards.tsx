import { Button } from "@mantine/core";
import { type FormEvent, useState } from "react";
import type { Gateway } from "#model/gateways/gateway.ts";
import type { Guardrails } from "#model/gateways/guardrails.ts";
import { useWrite } from "../../../api/hooks.ts";
import { Choice } from "../../../parts/choice.tsx";
import { List } from "../../../parts/list.tsx";
import { Actions } from "../../../parts/dialogs/modal.tsx";
import { Card, Fault, Notice } from "../../../parts/page.tsx";
import tools from "../../../parts/tools.module.css";
import { gatewayWrite } from "./gateway-write.ts";
import { type Category, HAZARDS } from "./found-words.ts";

type Side = keyof Guardrails;
type Answer = "" | "FLAG" | "BLOCK";

const CATEGORIES = Object.keys(HAZARDS) as Category[];
/** Each list says its side, because a phone shows no heads of columns. */
const ANSWERS = {
  prompt: [
    ["", "let prompts through"],
    ["FLAG", "flag prompts"],
    ["BLOCK", "block prompts"],
  ],
  response: [
    ["", "let answers through"],
    ["FLAG", "flag answers"],
    ["BLOCK", "block answers"],
  ],
} as const;
const NONE: Guardrails = { prompt: {}, response: {} };

/** Hazards that a safety model looks for in prompts and answers. */
export function Hazards({ base, gateway }: { readonly base: string; readonly gateway: Gateway }) {
  const [chosen, setChosen] = useState<Guardrails>(gateway.guardrails ?? NONE);
  const write = useWrite<Gateway>(base);
  const turn = (side: Side, category: Category, answer: Answer): void => {
    write.reset();
    const { [category]: _, ...others } = chosen[side];
    setChosen({ ...chosen, [side]: answer === "" ? others : { ...others, [category]: answer } });
  };
  const submit = (event: FormEvent): void => {
    event.preventDefault();
    write.mutate(gatewayWrite(base, gateway, { guardrails: chosen }));
  };
  const choice = (side: Side, category: Category, of: string) => (
    <Choice<Answer>
      label={`${HAZARDS[category][0]} in ${of}`}
      isQuiet
      value={chosen[side][category] ?? ""}
      options={ANSWERS[side]}
      onChange={(answer) => turn(side, category, answer)}
    />
  );
  return (
    <Card title="Guardrails">
      <form className={tools["form"]} onSubmit={submit}>
        <p className={tools["hint"]}>
          A safety model of the operator reads prompts and answers. An answer that it checks arrives when it is complete. A flag is a header
          field of the response; a block is an error in its place.
        </p>
        <List<Category>
          label="Guardrails"
          rows={CATEGORIES}
          keyOf={(category) => category}
          columns={[
            { head: "Hazard", width: "auto", cell: (category) => <b>{HAZARDS[category][0]}</b> },
            {
              head: "Such as",
              width: "auto",
              isMinor: true,
              cell: (category) => <span className={tools["quiet"]}>{HAZARDS[category][1]}</span>,
            },
            { head: "Prompt", width: "185px", cell: (category) => choice("prompt", category, "prompts") },
            { head: "Answer", width: "185px", cell: (category) => choice("response", category, "answers") },
          ]}
        />
        {write.error && (
          <Notice tone="bad">
            <Fault error={write.error} />
          </Notice>
        )}
        {write.isSuccess && <Notice tone="good">Saved, for the next request.</Notice>}
        <Actions>
          <Button type="submit" loading={write.isPending} loaderProps={{ type: "dots" }}>
            Save guardrails
          </Button>
        </Actions>
      </form>
    </Card>
  );
}
