import { Button, TextInput } from "@mantine/core";
import { lazy, Suspense, useState } from "react";
import type { SecurityEvent } from "#model/events/security-event.ts";
import type { ExceptionDraft } from "#model/rulesets/exception.ts";
import type { Ruleset } from "#model/rulesets/ruleset.ts";
import type { Zone } from "#model/zones/zone.ts";
import { api } from "../../api/client.ts";
import { useEntrypoint } from "../../api/entrypoint.ts";
import { useShownRead } from "../../api/shown-read.ts";
import { useWrite } from "../../api/hooks.ts";
import { Actions } from "../../parts/dialogs/modal.tsx";
import { Card, Failed, Fault, Loading, Notice } from "../../parts/page.tsx";
import tools from "../../parts/tools.module.css";
import { draftOf } from "./exception-draft.ts";
import { clausesOf, joined } from "./expression/expression-text.ts";
import { partName, phaseTitle } from "./parts.ts";
import { RecentMatches } from "./recent-matches.tsx";
import { RuleDiff } from "./rule-diff.tsx";

const ExpressionEditor = lazy(async () => ({ default: (await import("../../parts/expression-editor.tsx")).ExpressionEditor }));

interface ExceptionProps {
  readonly zone: Zone;
  readonly event: SecurityEvent;
  readonly onClose: () => void;
  readonly onSaved: () => void;
}

/** The narrowest rule that lets such requests pass, its place among the others, and only then the button that saves it. */
export function EventException({ zone, event, onClose, onSaved }: ExceptionProps) {
  const base = `/zones/${zone.id}/rulesets`;
  const draft = useShownRead({
    queryKey: ["draft", event.id],
    staleTime: Number.POSITIVE_INFINITY,
    queryFn: async () => {
      const own = draftOf(event);
      if (own) return { draft: own, notes: [] };
      const { result, messages = [] } = await api<ExceptionDraft>("POST", `${base}/exceptions/from_event`, { event_id: event.id });
      return { draft: result, notes: messages.map(({ message }) => message) };
    },
  });
  return (
    <Card title="Allow requests like this one">
      {draft.error ? (
        <Failed error={draft.error} />
      ) : !draft.data ? (
        <Loading />
      ) : (
        <Form zone={zone} draft={draft.data.draft} notes={draft.data.notes} onClose={onClose} onSaved={onSaved} />
      )}
    </Card>
  );
}

interface FormProps extends Omit<ExceptionProps, "event"> {
  readonly draft: ExceptionDraft;
  readonly notes: readonly string[];
}

/** A part of a request that rules no longer look at. */
type Place = { readonly part: string; readonly name?: string };

const WIDER: Readonly<Record<string, string>> = {
  "http.request.method": "Only this method",
  "http.host": "Only this host",
  "http.request.uri.path": "Only this path",
};

function Form({ zone, draft: { phase, rule }, notes, onClose, onSaved }: FormProps) {
  const base = `/zones/${zone.id}/rulesets`;
  const entry = `${base}/phases/${phase}/entrypoint`;
  const read = useEntrypoint(zone.id, phase);
  const write = useWrite<Ruleset>(base);
  const [expression, setExpression] = useState(rule.expression ?? "");
  const [description, setDescription] = useState(rule.description ?? "");
  const [isWriting, setWriting] = useState(false);
  const all = clausesOf(rule.expression ?? "");
  const kept = new Set(clausesOf(expression));
  if (read.isPending) return <Loading />;
  if (read.error) return <Failed error={read.error} onAgain={() => void read.refetch()} />;
  const ruleset = read.data;
  const { position, ...stored } = { ...rule, expression, description };
  const save = (): void =>
    write.mutate(
      ruleset
        ? { method: "POST", path: `${base}/${ruleset.id}/rules`, body: { ...stored, ...(position ? { position } : {}) } }
        : { method: "PUT", path: entry, body: { rules: [stored] } },
      { onSuccess: onSaved },
    );
  const places = [rule.action_parameters?.["matched"] ?? []].flat() as unknown as readonly Place[];
  return (
    <div className={tools["stack"]}>
      <p className={tools["hint"]}>
        {places.length > 0
          ? `The rules that matched no longer look at ${places.map(({ part, name = "" }) => `${partName(part)}${name === "" ? "" : ` “${name}”`}`).join(" and ")} of these requests. Everything else still runs.`
          : `These requests pass the rules below it in “${phaseTitle(phase)}”.`}
      </p>
      {notes.map((note) => (
        <Notice key={note} tone="warn">
          {note}
        </Notice>
      ))}
      <TextInput label="Name" value={description} onChange={({ currentTarget }) => setDescription(currentTarget.value)} />
      <div>
        <h3 className={tools["label"]} id="allow-when">
          For which requests
        </h3>
        {isWriting ? (
          <Suspense fallback={<pre className="mono">{expression}</pre>}>
            <ExpressionEditor zone={zone.id} phase={phase} value={expression} onChange={setExpression} labelledBy="allow-when" />
          </Suspense>
        ) : (
          <div className={tools["checks"]}>
            {all.map((clause) => (
              <label key={clause}>
                <input
                  type="checkbox"
                  checked={kept.has(clause)}
                  onChange={({ currentTarget }) =>
                    setExpression(joined(all.filter((one) => (one === clause ? currentTarget.checked : kept.has(one)))))
                  }
                />{" "}
                {WIDER[clause.split(" ")[0] ?? ""] ?? "Only if"} <code>{clause.split(" ").slice(2).join(" ")}</code>
              </label>
            ))}
            <button type="button" className={tools["pick"]} onClick={() => setWriting(true)}>
              Write the expression myself
            </button>
          </div>
        )}
      </div>
      <RecentMatches zone={zone} phase={phase} expression={expression} />
      <div>
        <h3 className={tools["label"]}>Changes in “{phaseTitle(phase)}”</h3>
        <RuleDiff rules={ruleset?.rules ?? []} added={stored} position={position} />
      </div>
      {write.error && (
        <Notice tone="bad">
          <Fault error={write.error} />
        </Notice>
      )}
      <Actions>
        <Button variant="default" onClick={onClose}>
          Cancel
        </Button>
        <Button loading={write.isPending} loaderProps={{ type: "dots" }} onClick={save}>
          Save the exception
        </Button>
      </Actions>
    </div>
  );
}
