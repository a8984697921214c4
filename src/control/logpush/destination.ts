import { PlatformError } from "#kernel/errors/errors.ts";

/** The destination of a job's files. */
export interface LogDestination {
  /** The request that stores the file. */
  request(file: LogUpload, nowMs: number): UploadRequest;
}

export interface UploadRequest {
  readonly method: "POST" | "PUT";
  readonly url: URL;
  readonly headers: Readonly<Record<string, string>>;
}

/** A file to upload. */
export interface LogUpload {
  /** Name of the file, for destinations with names. A repeated upload has the same name, so it replaces the earlier one. */
  readonly name: string;
  /** Day of its content, `YYYYMMDD`. */
  readonly day: string;
  /** NDJSON compressed with gzip, or text. */
  readonly form: "gzip" | "text";
  readonly body: Uint8Array;
}

/** `problem` continues the sentence after the field's name. */
export const invalidDestination = (problem: string): PlatformError =>
  new PlatformError("logpush_invalid", { message: `destination_conf ${problem}`, source: "/destination_conf" });
