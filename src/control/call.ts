import type { CallRules } from "#kernel/call-rules.ts";
import type { IsoDate } from "#kernel/clock.ts";
import type { Site } from "#model/access/passkey.ts";
import type { PermissionGroupName } from "#model/access/permission-groups.ts";

/** A permission of a token: a parsed resource selector, such as `com.<vendor>.api.account.<id>`, with its groups. */
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
      /** An account id limits "every zone" to that account. */ readonly account: string | "*";
      readonly id: string | "*";
      readonly groups: ReadonlySet<PermissionGroupName>;
    };

export interface DatePins {
  readonly token: IsoDate | null;
  readonly account: IsoDate | null;
}

/** The caller. */
export interface Actor {
  readonly type: "token" | "user" | "system";
  /** Token id, or the user id for e-mail and key. */
  readonly id: string;
  readonly user_id: string | null;
  readonly name: string;
  readonly ip: string;
  /** The session of the call, if any. */
  readonly session_id?: string;
  /** The passkey that authenticated the call, if any. */
  readonly passkey_id?: string;
  /** The membership of the invitation that the call presents, if any. */
  readonly invitation_id?: string;
  /**
   * The credential's hash at authentication; a session starts only if the stored hash is still the same. Absent for calls
   * of a session.
   */
  readonly proof?: string | null;
  /** API dates to which its calls are pinned (SPEC 9): its own, and that of the account that owns it. Browsers have none. */
  readonly pins?: DatePins;
  readonly grants: readonly Grant[];
  /**
   * Permissions of the credential's owner by account id. Grants apply only within them, so that a wildcard means "all of
   * mine" and a credential loses what its owner loses. Empty and unused for `system`.
   */
  readonly reach: ReadonlyMap<string, ReadonlySet<PermissionGroupName>>;
}

/** The installation itself: first start, scheduled jobs. It has every permission. */
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
  /** The address of the API in this request; absent for calls of the program itself. */
  readonly site?: Site;
  /** The caller's reason, which is stored in the history of the change. */
  readonly reason?: string;
  /** The highest revision that this call wrote; the API waits for the planes to apply it. */
  rev: number | null;
  /** A session secret that the response sets as a cookie; an empty text deletes the cookie. */
  session?: string;
  /** The API date of the call, if it is not the operator's. */
  api_date?: IsoDate;
  /** Rules of its API date; absent: none has begun that older calls could break. */
  rules?: CallRules;
  /** A dry run: checks everything as for a write, and writes nothing. */
  dry_run?: boolean;
  /** Information beside the result; the API returns it as messages. */
  notes?: string[];
  /** Calls back when the client has left. */
  onLeft?(tell: () => void): void;
}

/** The part of a call that long reads use. */
export type Reader = Pick<Call, "onLeft">;

/** Ends a successful dry run by undoing its unit. */
export class DryRunEnd extends Error {}

/** A call by the program itself. */
export const systemCall = (name: string): Call => ({ actor: systemActor(name), request_id: name, rev: null });

/** The requested page: both at least 1, `per_page` within the route's limits. */
export interface PageRequest {
  readonly page: number;
  readonly per_page: number;
}

/** The requested number of items and the cursor to continue after; absent: the first page. */
export interface CursorRequest {
  readonly per_page: number;
  readonly cursor?: string;
}

export interface CursorPage<T> {
  readonly items: readonly T[];
  /** The cursor of the next page; null at the end. */
  readonly after: string | null;
}

export interface Page<T> {
  readonly items: readonly T[];
  /** The remaining items, if they are too many for memory; the consumer sets the pace. */
  readonly more?: AsyncIterableIterator<readonly T[]>;
  readonly page: number;
  readonly per_page: number;
  readonly total_count: number;
  /** Further members of `result_info`. */
  readonly info?: Readonly<Record<string, number | boolean | null>>;
  /** The cursor of the next page, for lists that support cursors; null at the end. */
  readonly after?: string | null;
}
