import type { RuleTrace } from "#model/rulesets/rule-trace.ts";
import { Badge, Notice, type Tone } from "../../parts/page.tsx";
import css from "./trace-result.module.css";
import { partName, phaseTitle } from "./parts.ts";

type Step = RuleTrace["phases"][number]["steps"][number];

const RESULTS: Readonly<Record<Step["result"], readonly [string, Tone]>> = {
  applied: ["applied", "accent"],
  not_matched: ["did not match", "plain"],
  below_limit: ["below its limit", "plain"],
  below_threshold: ["below its threshold", "plain"],
  skipped: ["skipped", "good"],
  exhausted: ["stopped for its length", "warn"],
};
const ENDS: ReadonlySet<string> = new Set(["block", "challenge", "js_challenge", "managed_challenge", "redirect", "serve_error"]);

/** Each phase's effect on a request. Managed rules that did not match are counted alone. */
export function TraceResult({ trace }: { readonly trace: RuleTrace }) {
  const { terminated_by: end, phases, left_out, truncated } = trace;
  return (
    <div className={css["trace"]}>
      <Notice tone={end ? (end.action === "block" ? "bad" : "warn") : "good"} title={end ? "It is stopped" : "It passes to the origin"}>
        {end ? `${end.action.replaceAll("_", " ")} in ${phaseTitle(end.phase)}` : `${trace.request.method} ${trace.request.url}`}
      </Notice>
      <ol>
        {phases.map(({ phase, steps }) => {
          const shown = steps.filter(({ result, deployed_by }) => deployed_by === undefined || result !== "not_matched");
          const others = steps.length - shown.length;
          return (
            <li key={phase}>
              <b>{phaseTitle(phase)}</b>
              <ul>
                {shown.map((step, at) => (
                  <li key={`${at} ${step.rule_id}`} data-inner={step.deployed_by !== undefined || undefined}>
                    <p>
                      <Badge tone={step.result === "applied" && ENDS.has(step.action) ? "bad" : RESULTS[step.result][1]}>
                        {step.result === "applied" ? step.action.replaceAll("_", " ") : RESULTS[step.result][0]}
                      </Badge>{" "}
                      {step.description || step.expression}
                      {step.score !== undefined && step.score > 0 && <i> +{step.score}</i>}
                    </p>
                    {step.matched && (
                      <p className={css["matched"]}>
                        {partName(step.matched.part)} {step.matched.name !== "" && <b>{step.matched.name}</b>}:{" "}
                        <code>{step.matched.value}</code>
                      </p>
                    )}
                    {step.does !== undefined && Object.keys(step.does).length > 0 && step.action !== "execute" && (
                      <p className={css["matched"]}>
                        <code>{JSON.stringify(step.does)}</code>
                      </p>
                    )}
                  </li>
                ))}
                {others > 0 && <li className={css["others"]}>{others} other managed rules did not match</li>}
              </ul>
            </li>
          );
        })}
      </ol>
      {left_out.map(({ rule_id, message }) => (
        <Notice key={rule_id} tone="warn" title={`The rule ${rule_id} does not run`}>
          {message}
        </Notice>
      ))}
      {truncated && <p className={css["others"]}>There were more steps than are shown.</p>}
    </div>
  );
}
