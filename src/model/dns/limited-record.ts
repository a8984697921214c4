import type { DnsRecordWrite } from "./dns-record.ts";
import { TTL_AUTOMATIC, TTL_SECONDS_MAX } from "./prepared-record.ts";
import type { Plan } from "#model/zones/plan.ts";

/** A write reduced to the plan's limits, and sentences that describe the changes. */
export interface LimitedRecord {
  readonly write: DnsRecordWrite;
  readonly changes: readonly string[];
}

/**
 * Reduces values that exceed the plan: zone files of other servers have long TTLs and comments, and tags of larger plans,
 * but the record itself is fine.
 */
export function limitedRecord(write: DnsRecordWrite, plan: Plan): LimitedRecord {
  const changes: string[] = [];
  let { ttl, comment, tags } = write;
  const least = Math.min(Math.max(ttl ?? TTL_AUTOMATIC, plan.ttl_seconds_min), TTL_SECONDS_MAX);
  if (typeof ttl === "number" && ttl !== TTL_AUTOMATIC && ttl !== least) {
    changes.push(`TTL ${ttl} was changed to ${least}, the ${ttl > least ? "maximum" : "minimum"}.`);
    ttl = least;
  }
  const characters = [...(comment ?? "")];
  if (characters.length > plan.comment_length_max) {
    changes.push(`The comment was cut to ${plan.comment_length_max} characters.`);
    comment = characters.slice(0, plan.comment_length_max).join("").trimEnd();
  }
  if (tags && tags.length > plan.tags_max) {
    changes.push(`${tags.length - plan.tags_max} of ${tags.length} tags were left out; the quota is ${plan.tags_max}.`);
    tags = tags.slice(0, plan.tags_max);
  }
  if (changes.length === 0) return { write, changes };
  return {
    write: { ...write, ...(ttl === undefined ? {} : { ttl }), ...(comment === undefined ? {} : { comment }), ...(tags ? { tags } : {}) },
    changes,
  };
}
