import type { DnsName, NameKey } from "#wire/dns/name.ts";
import type { Answer, AnswerSet } from "./answer-rrset.ts";
import type { EdgeFront } from "#nameserver/zones/proxied-records.ts";
import type { FindExternal } from "#nameserver/external/external-names.ts";
import type { Zones } from "#nameserver/zones/zones.ts";

export interface Question {
  readonly name: DnsName;
  readonly type: number;
}

/** An answer under construction. */
export type AnswerDraft = {
  -readonly [K in keyof Answer]: Answer[K] extends ReadonlySet<NameKey>
    ? Set<NameKey>
    : Answer[K] extends readonly AnswerSet[]
      ? AnswerSet[]
      : Answer[K];
};

/** Context for building the parts of an answer. */
export interface Work {
  readonly draft: AnswerDraft;
  readonly zones: Zones;
  readonly edge: EdgeFront;
  readonly findOutside: FindExternal;
}
