import { useMutation, type UseMutationResult } from "@tanstack/react-query";
import type { PermissionGroupView, TokenCreated } from "#model/access/token.ts";
import { api } from "../../api/client.ts";
import { secondsAgo } from "../../api/now.ts";

const LIFE_SECONDS = 3600;

/** Creates a token of the user that runs the account's gateways for an hour; its secret. */
export const useHourToken = (accountId: string, name: string): UseMutationResult<string, Error, void> =>
  useMutation({
    mutationFn: async () => {
      const groups = await api<PermissionGroupView[]>("GET", "/user/tokens/permission_groups?name=AI%20Gateway%20Run");
      const { result } = await api<TokenCreated>("POST", "/user/tokens", {
        name,
        expires_on: secondsAgo(-LIFE_SECONDS).replace(/\.\d+/, ""),
        policies: [
          {
            effect: "allow",
            resources: { [`com.cloudflare.api.account.${accountId}`]: "*" },
            permission_groups: groups.result.filter((group) => group.name === "AI Gateway Run").map(({ id }) => ({ id })),
          },
        ],
      });
      return result.value;
    },
  });
