import type { Deprecation, Effect } from "../deprecation.ts";
import type { EffectHandler, Sides } from "../effect-handler.ts";
import { callRule } from "./call-rule.ts";
import { endpointGone } from "./endpoint-gone.ts";
import { errorWrapper } from "./error-wrapper.ts";
import { ignoreRequestFields } from "./ignore-request-fields.ts";
import { joinedAlias } from "./joined-alias.ts";
import { legacyAlias } from "./legacy-alias.ts";
import { listedAlias } from "./listed-alias.ts";
import { omitListItems } from "./omit-list-items.ts";
import { omitResponseFields } from "./omit-response-fields.ts";
import { rejectQueryForms } from "./reject-query-forms.ts";
import { rejectRequestFields } from "./reject-request-fields.ts";

/** One interpreter per kind; the type makes a missing kind an error. */
const INTERPRETERS: { readonly [K in Effect["kind"]]: EffectHandler<Extract<Effect, { kind: K }>> } = {
  endpoint_gone: endpointGone,
  omit_list_items: omitListItems,
  omit_response_fields: omitResponseFields,
  ignore_request_fields: ignoreRequestFields,
  reject_request_fields: rejectRequestFields,
  reject_query_forms: rejectQueryForms,
  error_wrapper: errorWrapper,
  legacy_alias: legacyAlias,
  listed_alias: listedAlias,
  joined_alias: joinedAlias,
  call_rule: callRule,
  protocol_rule: () => ({ before: {}, after: {} }),
};

export const interpret = (row: Deprecation): Sides => (INTERPRETERS[row.effect.kind] as EffectHandler<Effect>)(row.effect, row);
