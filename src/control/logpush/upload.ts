import { type OutboundAddressAllowed, sendOutbound } from "#control/outbound.ts";
import type { LogDestination, LogUpload } from "./destination.ts";
import { readHttpDestination } from "./http-destination.ts";
import { readS3Destination } from "./s3-destination.ts";

export interface UploadDeps {
  readonly allowed: OutboundAddressAllowed;
  readonly nowMs: number;
  /** Default: one minute. */
  readonly totalMs?: number;
  /** Aborts the upload. */
  readonly signal?: AbortSignal;
}

const TOTAL_MS = 60_000;

/** Throws `logpush_invalid` for an invalid destination. */
export const readDestination = (text: string, allowed: OutboundAddressAllowed): LogDestination =>
  text.startsWith("s3://") ? readS3Destination(text, allowed) : readHttpDestination(text, allowed);

/** Sends one file; rejects with a reason for people unless the destination accepts it. */
export async function upload(
  destination: LogDestination,
  file: LogUpload,
  { allowed, nowMs, signal, totalMs = TOTAL_MS }: UploadDeps,
): Promise<void> {
  const { method, url, headers } = destination.request(file, nowMs);
  const named = { "user-agent": "selvedge-logpush", ...headers };
  const stopped = signal === undefined ? {} : { signal };
  const status = await sendOutbound({ method, url, headers: named, body: file.body, totalMs, ...stopped }, allowed);
  if (status < 200 || status > 299) throw new Error(`the destination responded with status ${status}`);
}
