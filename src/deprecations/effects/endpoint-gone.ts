import type { EndpointGone } from "../deprecation.ts";
import type { EffectHandler } from "../effect-handler.ts";

export const endpointGone: EffectHandler<EndpointGone> = () => ({ before: { always: true }, after: { gone: true } });
