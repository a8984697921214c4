import type { PermissionGroupName } from "#model/access/permission-groups.ts";

/** A resource selector of a token policy, as `com.<vendor>.api.account.<id>`, already parsed. */
export type Grant =
  | { readonly effect: "allow" | "deny"; readonly level: "user"; readonly id: string; readonly groups: ReadonlySet<PermissionGroupName> }
  | {
      readonly effect: "allow" | "deny";
      readonly level: "account";
      readonly id: string | "*";
      readonly groups: ReadonlySet<PermissionGroupName>;
    }
  | {
      readonly effect: "allow" | "deny";
      readonly level: "zone";
      /** `account` limits "every zone" to one account. */ readonly account: string | "*";
      readonly id: string | "*";
      readonly groups: ReadonlySet<PermissionGroupName>;
    };

/** Who calls. */
export interface Actor {
  readonly type: "token" | "user" | "system";
  /** Token id, or user id for e-mail and key. */
  readonly id: string;
  readonly user_id: string | null;
  readonly name: string;
  readonly ip: string;
  /** The session by which the actor calls, if it is one. */
  readonly session_id?: string;
  /** The hash that the credential fitted, as it was in the store then; a session begins only where it still is. Not of a session. */
  readonly proof?: string | null;
  readonly grants: readonly Grant[];
  /**
   * What the credential's owner holds itself, by account id: grants count only within it, so that a wildcard
   * means "all of mine" and a credential loses what its owner loses. Empty and unused for `system`.
   */
  readonly reach: ReadonlyMap<string, ReadonlySet<PermissionGroupName>>;
}

/** The installation itself: first start, timed duties. It may do everything. */
export const systemActor = (name: string): Actor => ({
  type: "system",
  id: name,
  user_id: null,
  name,
  ip: "",
  grants: [],
  reach: new Map(),
});

/** One call of a use-case. */
export interface Call {
  readonly actor: Actor;
  readonly request_id: string;
  /** Why, in the caller's own words: stands in the history of what the call changes. */
  readonly reason?: string;
  /** The highest revision that this call wrote; the API waits for the planes to apply it. */
  rev: number | null;
  /** The secret of a session that the answer is to leave in the browser as a cookie; empty to take it away. */
  session?: string;
  /** A trial: everything is checked as for a write, and nothing is written. */
  dry_run?: boolean;
  /** What the caller should know beside the result; the API shows it as messages. */
  notes?: string[];
}

/** How a trial ends that would have succeeded as a write. */
export class DryRunEnd extends Error {}

/** A call by the program itself. */
export const systemCall = (name: string): Call => ({ actor: systemActor(name), request_id: name, rev: null });

/** Which page a caller wants: both at least 1, `per_page` within the route's bounds. */
export interface PageRequest {
  readonly page: number;
  readonly per_page: number;
}

/** How much a caller wants, and behind what; the first page without a cursor. */
export interface CursorRequest {
  readonly per_page: number;
  readonly cursor?: string;
}

export interface CursorPage<T> {
  readonly items: readonly T[];
  /** Where the next page begins; null at the end. */
  readonly after: string | null;
}

export interface Page<T> {
  readonly items: readonly T[];
  /** The rest of the items, where they are too many to be held at once. Whoever takes them sets the pace. */
  readonly more?: AsyncIterable<readonly T[]>;
  readonly page: number;
  readonly per_page: number;
  readonly total_count: number;
  /** Further members of `result_info`. */
  readonly info?: Readonly<Record<string, number | boolean | null>>;
  /** Where lists can also be gone through by cursor: where the next page begins; null at the end. */
  readonly after?: string | null;
}
