import { Button } from "@mantine/core";
import { useState } from "react";
import { useOutdated } from "../api/shown-read.ts";
import { Fault, Notice } from "../parts/page.tsx";
import { Time } from "../parts/time.tsx";
import css from "./shell.module.css";

/** Above a page that shows what it read before, because the server does not answer now. */
export function OutdatedNotice() {
  const outdated = useOutdated();
  const [isBusy, setBusy] = useState(false);
  if (!outdated) return null;
  const again = async (): Promise<void> => {
    setBusy(true);
    await outdated.again();
    setBusy(false);
  };
  return (
    <div className={css["outdated"]}>
      <Notice tone="warn" title="Not up to date">
        This page shows the state of <Time of={new Date(outdated.since).toISOString()} as="exact" />. <Fault error={outdated.error} />
      </Notice>
      <Button variant="default" size="xs" loading={isBusy} onClick={() => void again()}>
        Try again
      </Button>
    </div>
  );
}
