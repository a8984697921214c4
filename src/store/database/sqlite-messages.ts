import type { Rows } from "#store/queries/session.ts";

export interface ThreadOptions {
  readonly name: string;
  readonly path: string;
  readonly mode: "write" | "read";
}

/** `errcode` is SQLite's code, which structured cloning of an error would lose. */
export type ThreadReply =
  | { readonly id: number; readonly rows: Rows }
  | { readonly id: number; readonly message: string; readonly errcode: unknown };

export interface ThreadRequest {
  readonly id: number;
  readonly sql: string;
  readonly parameters: readonly unknown[];
}
