import { Button, TextInput } from "@mantine/core";
import { type FormEvent, useState } from "react";
import type { Rehearsal, RehearsalFinding } from "#model/access/rehearsal.ts";
import { useWrite } from "../../api/hooks.ts";
import { secondsAgo } from "../../api/now.ts";
import { CopyBlock } from "../../parts/copy-block.tsx";
import { List } from "../../parts/list.tsx";
import { Badge, Card, Fault, Notice, type Tone } from "../../parts/page.tsx";
import { count } from "../../parts/time.tsx";
import tools from "../../parts/tools.module.css";

const OUTCOMES: Readonly<Record<RehearsalFinding["outcome"], readonly [string, Tone]>> = {
  gone: ["gone", "bad"],
  refused: ["refused", "bad"],
  ignored: ["partly ignored", "warn"],
  answer: ["another answer", "plain"],
};

const YEAR_S = 365 * 86_400;

/** Which of the last week's calls would fail on a day. Nothing is changed. */
export function Rehearse({ accountId }: { readonly accountId: string }) {
  const [day, setDay] = useState(secondsAgo(-YEAR_S).slice(0, 10));
  const run = useWrite<Rehearsal>();
  const submit = (event: FormEvent): void => {
    event.preventDefault();
    run.mutate({ method: "POST", path: `/accounts/${accountId}/deprecations/rehearsals`, body: { as_of: day } });
  };
  const report = run.data?.result;
  const rewritten = report?.findings.filter(({ rewrite }) => rewrite !== undefined) ?? [];
  return (
    <Card title="Rehearse a day">
      <form className={tools["form"]} onSubmit={submit}>
        <p className={tools["hint"]}>Compares the calls of the last seven days with the interface of another day. Nothing is changed.</p>
        <div className={tools["row"]}>
          <TextInput
            type="date"
            aria-label="Day to rehearse"
            value={day}
            onChange={({ currentTarget }) => setDay(currentTarget.value)}
            required
          />
          <Button type="submit" variant="default" loading={run.isPending} loaderProps={{ type: "dots" }}>
            Rehearse
          </Button>
        </div>
        {run.error && (
          <Notice tone="bad">
            <Fault error={run.error} />
          </Notice>
        )}
        {report && <Summary report={report} />}
        {report && report.findings.length > 0 && (
          <List<RehearsalFinding>
            label="Calls that change"
            rows={report.findings}
            keyOf={({ deprecation_id, route, token_id }) => `${deprecation_id} ${route} ${token_id}`}
            columns={[
              {
                head: "Becomes",
                width: "120px",
                cell: ({ outcome, is_kept }) => (
                  <Badge tone={is_kept ? "good" : OUTCOMES[outcome][1]}>{is_kept ? "kept" : OUTCOMES[outcome][0]}</Badge>
                ),
              },
              { head: "Call", width: "auto", cell: ({ route }) => <span className="mono">{route}</span> },
              { head: "By", width: "auto", cell: ({ token_name, token_id }) => token_name ?? token_id },
              {
                head: "Why",
                width: "auto",
                isMinor: true,
                cell: ({ why, replacement }) => `${why}${replacement === null ? "" : ` Instead: ${replacement}`}`,
              },
              { head: "From", width: "100px", cell: ({ date }) => <span className="num">{date}</span> },
              { head: "Calls", width: "70px", isFigure: true, cell: ({ calls }) => count(calls) },
            ]}
          />
        )}
        {rewritten.map(({ deprecation_id, route, token_id, rewrite }) => (
          <details key={`${deprecation_id} ${route} ${token_id}`}>
            <summary className={tools["quiet"]}>{`The call instead of ${route}`}</summary>
            <CopyBlock label={`the call that replaces ${route}`} text={rewrite?.curl ?? ""} />
          </details>
        ))}
      </form>
    </Card>
  );
}

function Summary({ report: { breaking, calls, as_of, is_cut } }: { readonly report: Rehearsal }) {
  const kept = is_cut ? " Older calls were left out, because there are too many." : "";
  return calls === 0 ? (
    <Notice tone="warn">No call was recorded in these days.</Notice>
  ) : breaking === 0 ? (
    <Notice tone="good">{`${calls === 1 ? "The one recorded call works" : `All ${count(calls)} calls work`} on ${as_of}.${kept}`}</Notice>
  ) : (
    <Notice tone="bad">{`${count(breaking)} of ${count(calls)} calls do not work any more on ${as_of}.${kept}`}</Notice>
  );
}
