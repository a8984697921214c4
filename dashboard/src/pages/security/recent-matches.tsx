import { Button } from "@mantine/core";
import { useMutation } from "@tanstack/react-query";
import type { ExpressionMatches } from "#model/rulesets/expression-matches.ts";
import type { Zone } from "#model/zones/zone.ts";
import { api } from "../../api/client.ts";
import { type Column, List } from "../../parts/list.tsx";
import { Fault, Notice } from "../../parts/page.tsx";
import { count, Time } from "../../parts/time.tsx";
import tools from "../../parts/tools.module.css";

type Example = ExpressionMatches["examples"][number];

const REQUESTS = 5000;
const SHOWN = 5;

interface MatchesProps {
  readonly zone: Zone;
  readonly phase: string;
  readonly expression: string;
}

/** Which of the newest requests the expression matches as it stands, before the rule is saved. */
export function RecentMatches({ zone, phase, expression }: MatchesProps) {
  const { mutate, isPending, error, data, variables } = useMutation({
    mutationFn: (asked: string) =>
      api<ExpressionMatches>("POST", `/zones/${zone.id}/rulesets/expressions/matches`, { phase, expression: asked, requests: REQUESTS }),
  });
  return (
    <div className={tools["stack"]}>
      <div className={tools["row"]}>
        <Button variant="default" size="xs" loading={isPending} loaderProps={{ type: "dots" }} onClick={() => mutate(expression)}>
          Test against recent requests
        </Button>
        {data && variables === expression && <span className={tools["hint"]}>{sentenceOf(data.result)}</span>}
      </div>
      {error && variables === expression && (
        <Notice tone="bad">
          <Fault error={error} />
        </Notice>
      )}
      {data && variables === expression && data.result.unrecorded_fields.length > 0 && (
        <Notice tone="warn">
          The log of requests does not contain {data.result.unrecorded_fields.join(", ")}: the count can be too high or too low.
        </Notice>
      )}
      {data && variables === expression && data.result.examples.length > 0 && (
        <List label="Requests that match" columns={COLUMNS} rows={data.result.examples.slice(0, SHOWN)} keyOf={({ ray_id }) => ray_id} />
      )}
    </div>
  );
}

function sentenceOf({ evaluated, matched }: ExpressionMatches): string {
  if (evaluated === 0) return "The log of requests is empty.";
  return `${count(matched)} of the last ${count(evaluated)} requests match.`;
}

const COLUMNS: readonly Column<Example>[] = [
  { head: "Time", width: "110px", cell: ({ occurred_at }) => <Time of={occurred_at} /> },
  {
    head: "Request",
    width: "1fr",
    isLine: true,
    cell: ({ method, host, path, query }) => `${method} ${host}${path}${query && `?${query}`}`,
  },
  { head: "From", width: "150px", cell: ({ client_ip, country }) => `${client_ip} ${country}` },
  { head: "Status", width: "64px", isFigure: true, cell: ({ status }) => status },
];
