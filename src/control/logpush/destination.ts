import { PlatformError } from "#kernel/errors/errors.ts";

/** Where a job's files go. */
export interface LogDestination {
  /** What leaves the file there. */
  request(file: LogUpload, nowMs: number): UploadRequest;
}

export interface UploadRequest {
  readonly method: "POST" | "PUT";
  readonly url: URL;
  readonly headers: Readonly<Record<string, string>>;
}

/** A file for a destination. */
export interface LogUpload {
  /** Where files have names: the same for what is pushed again, so that it takes the place of what came before. */
  readonly name: string;
  /** Of what is in it, `YYYYMMDD`. */
  readonly day: string;
  /** Lines of JSON, compressed with gzip; or text. */
  readonly form: "gzip" | "text";
  readonly body: Uint8Array;
}

/** `problem` goes on after the field's name. */
export const invalidDestination = (problem: string): PlatformError =>
  new PlatformError("logpush_invalid", { message: `destination_conf ${problem}`, source: "/destination_conf" });
