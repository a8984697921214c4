import type { EndpointGone } from "../deprecation.ts";
import type { Interpreter } from "../interpretation.ts";

export const endpointGone: Interpreter<EndpointGone> = () => ({ before: { always: true }, after: { gone: true } });
