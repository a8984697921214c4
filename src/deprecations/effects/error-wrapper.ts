import type { ErrorWrapper } from "../deprecation.ts";
import type { EffectHandler } from "../effect-handler.ts";

export const errorWrapper: EffectHandler<ErrorWrapper> = ({ code, message, wraps }) => ({
  before: {
    errors: (items) => {
      const all = items.length > 0 && items.every((item) => wraps.some(([from, to]) => item.code >= from && item.code <= to));
      return all ? [{ code, message, error_chain: items.map((item) => ({ code: item.code, message: item.message })) }] : items;
    },
  },
  after: {},
});
