import type { Clock } from "#kernel/clock.ts";
import type { MetricRegistry } from "#kernel/process/metrics.ts";
import type { Sealer } from "#kernel/crypto/seal.ts";
import type { FeedLog } from "#snapshot/feed.ts";
import type { EdgeFront } from "#nameserver/zones/proxied-records.ts";
import { createKeyring } from "./keyring.ts";
import { createAnswerSigner, type SignAnswer } from "./sign-answer.ts";
import { createRrsigCache, type Signatures } from "./rrsig-cache.ts";
import { createSigningBudget } from "./signing-budget.ts";

/** Makes the signatures of answers and transfers. */
export interface Signer {
  readonly signatures: Signatures;
  readonly signAnswer: SignAnswer;
}

export interface SignerDeps {
  readonly edge: EdgeFront;
  readonly sealer: Sealer;
  readonly clock: Clock;
  readonly metrics: MetricRegistry;
  readonly log: FeedLog;
}

export function createSigner(deps: SignerDeps): Signer {
  const { edge, clock } = deps;
  const signatures = createRrsigCache({ ...deps, keyring: createKeyring(deps) });
  return { signatures, signAnswer: createAnswerSigner({ edge, signatures, budget: createSigningBudget({ clock }) }) };
}
