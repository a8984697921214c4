import type { DnsName, NameKey } from "#wire/dns/name.ts";
import type { Answer, AnswerSet } from "./answer-set.ts";
import type { EdgeFront } from "./edge-front.ts";
import type { FindOutside } from "./outside/outside-names.ts";
import type { Zones } from "./zones.ts";

export interface Question {
  readonly name: DnsName;
  readonly type: number;
}

/** An answer while its parts are put together. */
export type Draft = {
  -readonly [K in keyof Answer]: Answer[K] extends ReadonlySet<NameKey>
    ? Set<NameKey>
    : Answer[K] extends readonly AnswerSet[]
      ? AnswerSet[]
      : Answer[K];
};

/** What each part of an answer is made with. */
export interface Work {
  readonly draft: Draft;
  readonly zones: Zones;
  readonly edge: EdgeFront;
  readonly findOutside: FindOutside;
}
