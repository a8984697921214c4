import { Textarea, TextInput } from "@mantine/core";
import { lazy, Suspense, useState } from "react";
import type { Rule, Ruleset } from "#model/rulesets/ruleset.ts";
import type { Zone } from "#model/zones/zone.ts";
import { useWrite } from "../../api/hooks.ts";
import { Choice } from "../../parts/choice.tsx";
import { FormDialog } from "../../parts/dialogs/form-dialog.tsx";
import tools from "../../parts/tools.module.css";
import { ExpressionBuilder } from "./expression/expression-builder.tsx";
import { builtOf } from "./expression/expression-parts.ts";
import { ParameterFields } from "./parameter-fields.tsx";
import { RecentMatches } from "./recent-matches.tsx";
import type { Phase, RuleAction } from "./rule-phases.ts";

const ExpressionEditor = lazy(async () => ({ default: (await import("../../parts/expression-editor.tsx")).ExpressionEditor }));

interface FormProps {
  readonly zone: Zone;
  readonly phase: Phase;
  /** Undefined where the phase has none yet. */
  readonly ruleset: Ruleset | undefined;
  readonly rule: Rule | undefined;
  readonly onClose: () => void;
}

type Tree = Readonly<Record<string, unknown>>;

/** One rule: when, as rows or as text, and then what. */
export function RuleForm({ zone, phase, ruleset, rule, onClose }: FormProps) {
  const [description, setDescription] = useState(rule?.description ?? "");
  const [expression, setExpression] = useState(rule?.expression ?? phase.example);
  const [action, setAction] = useState<string>(rule?.action ?? phase.actions[0].id);
  const known: RuleAction = phase.actions.find(({ id }) => id === action) ?? { id: action, title: action.replaceAll("_", " "), fields: [] };
  const [parameters, setParameters] = useState<Tree>(rule?.action_parameters ?? (known.start as Tree | undefined) ?? {});
  const [ratelimit, setRatelimit] = useState<Tree | undefined>(rule?.ratelimit ?? (phase.ratelimit as Tree | undefined));
  const [way, setWay] = useState<"build" | "write">(builtOf(expression) ? "build" : "write");
  const base = `/zones/${zone.id}/rulesets`;
  const write = useWrite<Ruleset>(base);
  const choose = (next: string): void => {
    setAction(next);
    setParameters((phase.actions.find(({ id }) => id === next)?.start as Tree | undefined) ?? {});
  };
  const submit = (): void => {
    const body = {
      description,
      expression,
      action,
      enabled: rule?.enabled ?? true,
      ...(Object.keys(parameters).length > 0 ? { action_parameters: parameters } : {}),
      ...(ratelimit ? { ratelimit } : {}),
      ...(rule?.logging ? { logging: rule.logging } : {}),
    };
    // A skip rule applies to the rules below it.
    const position = action === "skip" ? { position: { before: "" } } : {};
    const call = rule
      ? { method: "PATCH" as const, path: `${base}/${ruleset?.id}/rules/${rule.id}`, body }
      : ruleset
        ? { method: "POST" as const, path: `${base}/${ruleset.id}/rules`, body: { ...body, ...position } }
        : { method: "PUT" as const, path: `${base}/phases/${phase.id}/entrypoint`, body: { rules: [body] } };
    write.mutate(call, { onSuccess: onClose });
  };
  return (
    <FormDialog
      title={rule ? "Edit the rule" : `Add a rule to “${phase.title}”`}
      onClose={onClose}
      size={760}
      submit="Save the rule"
      onSubmit={submit}
      isPending={write.isPending}
      error={write.error}
    >
      <TextInput
        label="Name"
        placeholder="Admin from outside the office"
        value={description}
        onChange={({ currentTarget }) => setDescription(currentTarget.value)}
        data-autofocus
      />
      <div className={tools["stack"]}>
        <div className={tools["between"]}>
          <h2 id="when">When a request matches</h2>
          <Choice
            label="How the expression is made"
            isQuiet
            value={way}
            options={[
              ["build", "Builder"],
              ["write", "Expression editor"],
            ]}
            onChange={setWay}
          />
        </div>
        {way === "build" ? (
          <ExpressionBuilder value={expression} onChange={setExpression} />
        ) : (
          <Suspense fallback={<pre className="mono">{expression}</pre>}>
            <ExpressionEditor zone={zone.id} phase={phase.id} value={expression} onChange={setExpression} labelledBy="when" />
          </Suspense>
        )}
        <RecentMatches zone={zone} phase={phase.id} expression={expression} />
      </div>
      {phase.counting && ratelimit && (
        <div className={tools["stack"]}>
          <h2>More often than</h2>
          <ParameterFields fields={phase.counting} value={ratelimit} onChange={setRatelimit} />
        </div>
      )}
      <div className={tools["stack"]}>
        <h2>Then</h2>
        <div className={tools["two"]}>
          <Choice
            label="Action"
            value={action}
            options={[
              ...phase.actions.map(({ id, title }) => [id, title] as const),
              ...(phase.actions.some(({ id }) => id === action) ? [] : [[action, known.title] as const]),
            ]}
            onChange={choose}
          />
        </div>
        {known.fields.length > 0 && <ParameterFields fields={known.fields} value={parameters} onChange={setParameters} />}
        <AllParameters
          key={action}
          value={parameters}
          onChange={setParameters}
          isOpen={known.fields.length === 0 && known.start !== undefined}
        />
      </div>
    </FormDialog>
  );
}

interface AllProps {
  readonly value: Tree;
  readonly onChange: (value: Tree) => void;
  readonly isOpen: boolean;
}

/** Parameters without a form of their own, as the API takes them. */
function AllParameters({ value, onChange, isOpen }: AllProps) {
  const [text, setText] = useState<string>();
  const [problem, setProblem] = useState<string>();
  const change = (next: string): void => {
    setText(next);
    try {
      onChange(JSON.parse(next || "{}") as Tree);
      setProblem(undefined);
    } catch (error) {
      setProblem((error as Error).message);
    }
  };
  return (
    <details open={isOpen} onToggle={() => setText(undefined)}>
      <summary className={tools["quiet"]}>All parameters</summary>
      <Textarea
        aria-label="All parameters, as JSON"
        classNames={{ input: tools["mono"] ?? "" }}
        rows={5}
        value={text ?? JSON.stringify(value, null, 2)}
        error={problem}
        onChange={({ currentTarget }) => change(currentTarget.value)}
        onBlur={() => problem === undefined && setText(undefined)}
        spellCheck={false}
      />
    </details>
  );
}
