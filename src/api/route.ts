import type { Readable } from "node:stream";
import type { Static, TSchema } from "typebox";
import type { Call, CursorPage, CursorRequest, Page, PageRequest } from "#control/call.ts";
import type { Credential } from "#control/access/authenticate.ts";
import type { ResolvedScope } from "#control/access/authorize.ts";
import type { Control } from "#control/control.ts";
import type { Deprecation } from "#deprecations/deprecation.ts";
import type { Query } from "#deprecations/effect-handler.ts";
import type { IsoDate } from "#kernel/clock.ts";
import type { ErrorName } from "#kernel/errors/error-codes.ts";
import type { PermissionGroupName } from "#model/access/permission-groups.ts";
import type { FormFile } from "./form-body.ts";

export type Method = "GET" | "POST" | "PUT" | "PATCH" | "DELETE";

/** `/zones/:zone_id/dns_records/:dns_record_id` becomes `{ zone_id: string; dns_record_id: string }`. */
export type Params<P extends string> = P extends `${string}:${infer Name}/${infer Rest}`
  ? { readonly [K in Name]: string } & Params<`/${Rest}`>
  : P extends `${string}:${infer Name}`
    ? { readonly [K in Name]: string }
    : Record<never, string>;

/**
 * The type of the first path parameter, which determines the permitted callers: `open` any valid credential; `user` the
 * caller's own resources; `account` and `zone` an account or zone that the credential's grants cover. The server resolves
 * and checks it before the handler runs.
 */
export type Scope = "open" | "user" | "account" | "zone";

/** The resolved scope, with the facts for legacy response fields. */
export interface Resolved {
  readonly account: ResolvedScope["account"];
  readonly zone: ResolvedScope["zone"];
}

/** The API that the operator shows, and its changes. */
export interface Edition {
  readonly table: readonly Deprecation[];
  date(): IsoDate;
}

export interface Req<P extends string, Q, B> {
  readonly control: Control;
  readonly edition: Edition;
  readonly call: Call;
  readonly params: Params<P>;
  readonly query: Q;
  readonly body: B;
  readonly resolved: Resolved;
  /** The file of the form, if the route names its field. */
  readonly file: FormFile | undefined;
  /** `page` and `per_page` of the query, checked; the first page if the route does not page. */
  readonly page: PageRequest;
  /** The same if the route pages by cursor. */
  readonly cursor: CursorRequest;
  /** Returning clients of event streams send the last event that they saw (WHATWG HTML, "Server-sent events"). */
  readonly last_event_id: string | undefined;
  /** `Prefer: respond-async` (RFC 7240 §4.1). */
  readonly prefers_async: boolean;
}

type StaticOr<T extends TSchema | undefined, Otherwise> = T extends TSchema ? Static<T> : Otherwise;

/** Result of a handler, by the route's `paging`. */
export type Reply<R extends TSchema, G extends Paging> = G extends "page"
  ? Page<Static<R>>
  : G extends "cursor"
    ? CursorPage<Static<R>>
    : G extends "list"
      ? readonly Static<R>[]
      : G extends "raw"
        ? RawReply
        : Static<R>;

/** A non-JSON answer without an envelope. Errors of its route still have one. */
export interface RawReply {
  /** `text/plain; charset=utf-8`: the route's `media_type`, with its parameters. */
  readonly type: string;
  /** Parts, if it is too long to be held at once or unbounded; the reader sets the pace. */
  readonly body: string | Buffer | AsyncIterableIterator<string>;
  readonly headers?: Readonly<Record<string, string>>;
}

/** An answer as it is sent. A stream is read as fast as the client reads it. */
export interface Answer {
  readonly type: string;
  readonly body: string | Buffer | Readable;
  readonly headers?: Readonly<Record<string, string>>;
}

/**
 * `page`: page, per_page and totals (contract.md §1); `list`: everything, without result_info; `one`: a single object;
 * `cursor`: per_page and, while more remains, the cursor of the next page; `raw`: text of another media type, which the
 * route's `media_type` names.
 */
export type Paging = "one" | "list" | "page" | "cursor" | "raw";

/** Limits that the operator sets for some routes only (ApiConfig.limits). */
export type LimitName = "dns_import" | "image_upload";

/** One row of the route table. Envelope, authentication, permission, validation, OpenAPI and tests are derived from it. */
export interface Route<
  P extends string = string,
  Q extends TSchema | undefined = TSchema | undefined,
  B extends TSchema | undefined = TSchema | undefined,
  R extends TSchema = TSchema,
  G extends Paging = Paging,
> {
  readonly method: Method;
  readonly path: P;
  /** `operationId` of the OpenAPI document: `dns-records-create`. */
  readonly id: string;
  readonly summary: string;
  readonly scope: Scope;
  /** Any of these groups suffices; empty means that a valid credential is enough. */
  readonly permissions: readonly PermissionGroupName[];
  /** Forms of credentials that the route accepts; the default is a token, e-mail with key, or a session. */
  readonly credentials?: readonly Credential["type"][];
  readonly query?: Q;
  /** Unknown parameters are refused: if they filter, a mistyped name would select everything. */
  readonly strict_query?: true;
  /** Converts other forms of the query to the one in the schema. */
  readonly fold_query?: (query: Query) => Query;
  readonly body?: B;
  /**
   * Unknown members of the body are neither stored nor shown, and the response names them. The list: ends of names that the handler
   * reads although the schema does not have them.
   */
  readonly drops_unknown?: readonly string[];
  /** Error for a body that violates the schema, if the resource's family has a special code. */
  readonly invalid_body?: ErrorName;
  /** The same for the query, including `page` and `per_page`. */
  readonly invalid_query?: ErrorName;
  /** `multipart`: the body is a form, whose fields are the strings of `body` (RFC 7578). Default: JSON. */
  readonly body_type?: "multipart";
  /** The field of the form that is a file of any bytes, which the handler gets as `file`. */
  readonly file_field?: string;
  /** Size of the body and frequency of the calls, if the route has separate limits. */
  readonly limits?: LimitName;
  /** Limit of the values in the body, if valid bodies can have more than `VALUES_MAX` (json-body.ts). */
  readonly values_max?: number;
  /** Media type of the answer, if `paging` is `raw`. */
  readonly media_type?: string;
  /** Schema of the result, or of one item if `paging` is `list`, `page` or `cursor`. */
  readonly result: R;
  readonly paging: G;
  /** Largest and default page size, if they are not 20 and 1000. */
  readonly per_page?: { readonly default: number; readonly max: number; readonly min?: number };
  /** Further members of the envelope, if published clients read the result there. */
  also?(reply: Reply<R, G>): object;
  /** Accepts `dry_run=true`: the errors are those of the write, the result is null, and nothing is written. */
  readonly dry_run?: true;
  /** HTTP status on success, 200 by default. */
  readonly status?: 200 | 201 | 202 | 204;
  handler(req: Req<P, StaticOr<Q, Record<string, never>>, StaticOr<B, undefined>>): Promise<Reply<R, G>>;
}

/** Infers the types of a row; returns it unchanged. */
export const route = <
  const P extends string,
  R extends TSchema,
  const G extends Paging,
  Q extends TSchema | undefined = undefined,
  B extends TSchema | undefined = undefined,
>(
  row: Route<P, Q, B, R, G>,
): Route => row as unknown as Route;
