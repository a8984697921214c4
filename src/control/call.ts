import type { PermissionGroupName } from "#model/permission-groups.ts";

/** A resource selector of a token policy, as `com.<vendor>.api.account.<id>`, already parsed. */
export type Grant =
  | { readonly effect: "allow" | "deny"; readonly level: "user"; readonly id: string; readonly groups: ReadonlySet<PermissionGroupName> }
  | { readonly effect: "allow" | "deny"; readonly level: "account"; readonly id: string | "*"; readonly groups: ReadonlySet<PermissionGroupName> }
  | { readonly effect: "allow" | "deny"; readonly level: "zone"; /** `account` limits "every zone" to one account. */ readonly account: string | "*"; readonly id: string | "*"; readonly groups: ReadonlySet<PermissionGroupName> };

/** Who calls. */
export interface Actor {
  readonly type: "token" | "user" | "system";
  /** Token id, or user id for e-mail and key. */
  readonly id: string;
  readonly user_id: string | null;
  readonly name: string;
  readonly ip: string;
  readonly grants: readonly Grant[];
}

/** One call of a use-case. */
export interface Call {
  readonly actor: Actor;
  readonly request_id: string;
  /** The highest revision that this call wrote; the API waits for the planes to apply it. */
  rev: number | null;
}

export interface Page<T> {
  readonly items: readonly T[];
  readonly page: number;
  readonly per_page: number;
  readonly total_count: number;
}
