import { useQuery, type UseQueryResult } from "@tanstack/react-query";
import type { User } from "#model/access/user.ts";
import { api, ApiError } from "../api/client.ts";

/** Milliseconds between two looks for a server that did not answer. */
export const AGAIN_MS = 5_000;

export interface Session {
  /** A token of an account has no user. */
  readonly user: User | null;
}

const SIGNED_IN_KEY = "selvedge.signed-in";

/** Whether the last visit of this browser ended signed in, so that this one need not wait with its first reads. */
export const wasSignedIn = (): boolean => localStorage.getItem(SIGNED_IN_KEY) !== null;

export const forgetSignIn = (): void => localStorage.removeItem(SIGNED_IN_KEY);

/** Messages to the other tabs of this browser, which share its cookie: the user who is signed in now, or `NOBODY`. */
export const others = new BroadcastChannel("selvedge.user");
export const NOBODY = "";

/** The signed-in user; null: nobody is. */
export const useSession = (): UseQueryResult<Session | null> =>
  useQuery({
    queryKey: ["session"],
    staleTime: Number.POSITIVE_INFINITY,
    refetchInterval: ({ state }) => state.status === "error" && AGAIN_MS,
    queryFn: async () => {
      try {
        const { result: user } = await api<User>("GET", "/user", undefined, { isShown: false });
        localStorage.setItem(SIGNED_IN_KEY, "");
        others.postMessage(user.id);
        return { user };
      } catch (error) {
        // A server that is away or overloaded says nothing about the session.
        if (!(error instanceof ApiError) || error.isPassing) throw error;
        // The token may not read its user; it is signed in all the same.
        if (error.code === 10_000) return { user: null };
        forgetSignIn();
        return null;
      }
    },
  });

/** How the list of sessions names this browser. */
export function browserLabel(agent: string = navigator.userAgent): string {
  const browser = ["Firefox", "Edg", "Chrome", "Safari"].find((name) => agent.includes(`${name}/`)) ?? "A browser";
  const system = ["Windows", "Android", "iPhone", "Mac OS", "Linux"].find((name) => agent.includes(name));
  return `${browser === "Edg" ? "Edge" : browser}${system === undefined ? "" : ` on ${system === "Mac OS" ? "macOS" : system}`}`;
}

/** UTF-8 before base64, as RFC 7617 has it. */
export function basicCredentials(email: string, password: string): string {
  const bytes = new TextEncoder().encode(`${email}:${password}`);
  return `Basic ${btoa(String.fromCharCode(...bytes))}`;
}
