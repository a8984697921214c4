import { useMutation, useQueryClient, type UseMutationResult } from "@tanstack/react-query";
import type { RuleListItem, RuleListItemWrite, RuleListOperation } from "#model/rulesets/rule-list.ts";
import { api, ApiError } from "../../../api/client.ts";

export type ItemsWrite =
  | { readonly method: "POST" | "PUT"; readonly items: readonly RuleListItemWrite[] }
  | { readonly method: "DELETE"; readonly items: readonly RuleListItem[] };

const POLL_MS = 300;
/** A list of 100,000 items takes some seconds. */
const POLLS_MAX = 400;

/** Adds, replaces or deletes items. It is over when the server has carried the operation out. */
export function useItemsWrite(base: string, list: string): UseMutationResult<void, Error, ItemsWrite> {
  const client = useQueryClient();
  return useMutation({
    mutationFn: async (write: ItemsWrite) => {
      const body = write.method === "DELETE" ? { items: write.items.map(({ id }) => ({ id })) } : write.items;
      const { result } = await api<{ operation_id: string }>(write.method, `${base}/${list}/items`, body);
      for (let polls = 0; polls < POLLS_MAX; polls++) {
        const { result: operation } = await api<RuleListOperation>("GET", `${base}/bulk_operations/${result.operation_id}`);
        if (operation.status === "completed") return;
        if (operation.status === "failed")
          throw new ApiError(200, [{ code: 0, message: operation.error ?? "The server could not do it." }]);
        await new Promise((resolve) => setTimeout(resolve, POLL_MS));
      }
      throw new Error("The server is still at work. Look at the list again in a minute.");
    },
    onSettled: () =>
      client.invalidateQueries({ predicate: ({ queryKey: [kind, path] }) => kind === "get" && String(path).startsWith(base) }),
  });
}
