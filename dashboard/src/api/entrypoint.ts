import type { UseQueryResult } from "@tanstack/react-query";
import type { Ruleset } from "#model/rulesets/ruleset.ts";
import { api, ApiError } from "./client.ts";
import { useShownRead } from "./shown-read.ts";

/** With sentences about parts of its rules that have no effect. */
export type Entrypoint = Ruleset & { readonly notes: readonly string[] };

/**
 * The rules of a phase of a zone. Null where it has none yet: the API answers 404 then, which is an answer like others, and no failure that
 * a later read could take back. Sends no request while the phase is undefined.
 */
export function useEntrypoint(zoneId: string, phase: string | undefined): UseQueryResult<Entrypoint | null> {
  const path = `/zones/${zoneId}/rulesets/phases/${phase ?? ""}/entrypoint`;
  return useShownRead({
    queryKey: ["get", path, "or null"],
    enabled: phase !== undefined,
    queryFn: async ({ signal }) => {
      try {
        const { result, messages = [] } = await api<Ruleset>("GET", path, undefined, { signal });
        return { ...result, notes: messages.map(({ message }) => message) };
      } catch (error) {
        if (error instanceof ApiError && error.status === 404) return null;
        throw error;
      }
    },
  });
}
