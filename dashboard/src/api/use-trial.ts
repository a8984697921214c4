import { useQuery } from "@tanstack/react-query";
import { useEffect, useState } from "react";
import { api, ApiError, type ApiFault } from "./client.ts";
import type { Write } from "./hooks.ts";

/** So long the typing rests before the text is tried. */
const REST_MS = 500;
const NONE: Readonly<Record<string, ApiFault>> = {};

interface Trial {
  /** The errors of the write as it stands, by field; empty while the typing goes on. */
  readonly faults: Readonly<Record<string, ApiFault>>;
  /** Tries at once: a field was left. */
  now(): void;
}

/** Tries a write that is being typed by the API's own rules: a dry run answers as the write would, and changes nothing. */
export function useTrial(write: Write | undefined): Trial {
  const typed = write === undefined ? "" : JSON.stringify([write.method, write.path, write.body]);
  const [rested, setRested] = useState("");
  useEffect(() => {
    const timer = setTimeout(() => setRested(typed), REST_MS);
    return () => clearTimeout(timer);
  }, [typed]);
  const { error } = useQuery({
    queryKey: ["trial", rested],
    queryFn: ({ signal }) => {
      const [method, path, body] = JSON.parse(rested) as [string, string, unknown];
      return api<null>(method, `${path}?dry_run=true`, body, { signal, isShown: false });
    },
    enabled: typed !== "" && rested === typed,
    retry: false,
    gcTime: 0,
  });
  const isOfText = rested === typed && error instanceof ApiError && !error.isPassing && !error.isForbidden;
  return { faults: isOfText ? error.byField() : NONE, now: () => setRested(typed) };
}
