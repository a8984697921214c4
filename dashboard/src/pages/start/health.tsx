import type { ServerHealth } from "#model/access/server-health.ts";
import { useAccount, useRead } from "../../api/hooks.ts";
import { Badge, Failed, Loading, Notice } from "../../parts/page.tsx";
import css from "./health.module.css";

const WORDS = { idle: ["idle", "plain"], up: ["answers", "good"], silent: ["does not answer", "bad"], down: ["is down", "bad"] } as const;

/** The threads of this server, and whether each answers. */
export function Health() {
  const account = useAccount();
  const read = useRead<ServerHealth>(account && `/accounts/${account.id}/health`, { everyMs: 15_000 });
  if (read.error) return <Failed error={read.error} onAgain={() => void read.refetch()} />;
  if (!read.data) return <Loading />;
  const { planes, problems } = read.data.result;
  return (
    <>
      {problems.map((problem) => (
        <Notice key={problem} tone="bad">
          {problem}
        </Notice>
      ))}
      <ul className={css["planes"]}>
        {planes.map(({ name, status }) => (
          <li key={name}>
            <span>{name}</span>
            <Badge tone={WORDS[status][1]}>{WORDS[status][0]}</Badge>
          </li>
        ))}
      </ul>
      {planes.some(({ status }) => status === "idle") && (
        <p className={css["hint"]}>An idle plane starts with the first zone or gateway, or the first visitor.</p>
      )}
    </>
  );
}
