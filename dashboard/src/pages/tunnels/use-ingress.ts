import type { UseMutationResult } from "@tanstack/react-query";
import type { IngressRule } from "#model/tunnels/ingress.ts";
import type { TunnelConfiguration } from "#model/tunnels/tunnel.ts";
import type { Reply } from "../../api/client.ts";
import { useWrite, type Write } from "../../api/hooks.ts";

/** Answers everything that no other rule takes; the API demands such a last rule. */
const REST: IngressRule = { service: "http_status:404" };

export interface Ingress {
  /** In order, the last one for all other requests. Empty before the first. */
  readonly rules: readonly IngressRule[];
  readonly write: UseMutationResult<Reply<TunnelConfiguration>, Error, Write>;
  /** Replaces the rules, and keeps the rest of the configuration. */
  save(rules: readonly IngressRule[], onDone?: () => void): void;
}

export function useIngress(path: string, configuration: TunnelConfiguration): Ingress {
  const write = useWrite<TunnelConfiguration>(path);
  return {
    rules: configuration.config?.ingress ?? [],
    write,
    save: (ingress, onDone) =>
      write.mutate(
        { method: "PUT", path: `${path}/configurations`, body: { config: { ...configuration.config, ingress } } },
        onDone && { onSuccess: onDone },
      ),
  };
}

/** A new rule stands last before the one for all other requests. */
export const withRule = (rules: readonly IngressRule[], rule: IngressRule): readonly IngressRule[] => [
  ...rules.slice(0, -1),
  rule,
  rules.at(-1) ?? REST,
];

/** `to` is the place of the rule afterwards. */
export function moved(rules: readonly IngressRule[], from: number, to: number): readonly IngressRule[] {
  const rule = rules[from];
  return rule === undefined ? rules : rules.toSpliced(from, 1).toSpliced(to, 0, rule);
}
