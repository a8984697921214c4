import { Button } from "@mantine/core";
import { useQueryClient } from "@tanstack/react-query";
import { Card, Notice } from "../../parts/page.tsx";
import { count, number } from "../../parts/time.tsx";
import tools from "../../parts/tools.module.css";
import { forgetRun, resumeRun, stopRun, useAddRun } from "./add-run.ts";

/** Hostnames that are being added, or that were not, while the rest of the page stays usable. */
export function AddProgress({ zoneId }: { readonly zoneId: string }) {
  const client = useQueryClient();
  const run = useAddRun(zoneId);
  if (!run) return null;
  const { total, left, failed, isRunning, stopped } = run;
  const tried = total - left.length;
  return (
    <Card title={isRunning ? "Adding hostnames" : left.length > 0 ? "Hostnames wait to be added" : "These were not added"}>
      <div className={tools["stack"]}>
        {(isRunning || left.length > 0) && (
          <>
            <progress max={total} value={tried} aria-label="Hostnames that were tried" />
            <p className={tools["hint"]} role="status">
              <b className="num">{count(tried)}</b> of <b className="num">{count(total)}</b>
              {isRunning ? ". You can go to other pages meanwhile." : `. ${stopped ?? ""}`}
            </p>
          </>
        )}
        {failed.length > 0 && (
          <Notice tone="bad" title={`${number(failed.length, "hostname")} refused`}>
            {failed.map(({ name, why }) => (
              <p key={name}>
                {name}: {why}
              </p>
            ))}
          </Notice>
        )}
        <div className={tools["row"]}>
          {isRunning ? (
            <Button variant="default" onClick={() => stopRun(zoneId)}>
              Stop
            </Button>
          ) : (
            <>
              {left.length > 0 && (
                <Button onClick={() => resumeRun(zoneId, () => void client.invalidateQueries())}>Go on with {count(left.length)}</Button>
              )}
              <Button variant="default" onClick={() => forgetRun(zoneId)}>
                {left.length > 0 ? "Forget the rest" : "Close"}
              </Button>
            </>
          )}
        </div>
      </div>
    </Card>
  );
}
