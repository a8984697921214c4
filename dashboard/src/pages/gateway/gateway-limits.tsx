import { Button, TextInput } from "@mantine/core";
import { type FormEvent, useState } from "react";
import type { Gateway } from "#model/gateways/gateway.ts";
import { ApiError } from "../../api/client.ts";
import { useWrite } from "../../api/hooks.ts";
import { Choice } from "../../parts/choice.tsx";
import { Actions } from "../../parts/dialogs/modal.tsx";
import { Card, Fault, Notice } from "../../parts/page.tsx";
import { duration } from "../../parts/time.tsx";
import tools from "../../parts/tools.module.css";

const CACHE_TTLS = [0, 60, 300, 3600, 86_400, 604_800];
const INTERVALS = [10, 60, 300, 3600, 86_400];
const ATTEMPTS = [1, 2, 3, 4, 5];

/** The known values and the one that is set. */
const options = (known: readonly number[], set: number, said: (value: number) => string): readonly (readonly [string, string])[] =>
  [...new Set([...known, set])].toSorted((a, b) => a - b).map((value) => [String(value), said(value)]);

/** How long answers are kept, how many requests pass in a time, and how often a provider is asked again. */
export function GatewayLimits({ base, gateway }: { readonly base: string; readonly gateway: Gateway }) {
  const write = useWrite<Gateway>(base);
  const [ttl, setTtl] = useState(gateway.cache_ttl ?? 0);
  const [limit, setLimit] = useState(String(gateway.rate_limiting_limit || ""));
  const [interval, setSpan] = useState(gateway.rate_limiting_interval || 60);
  const [attempts, setAttempts] = useState(gateway.retry_max_attempts ?? 1);
  const isLimited = limit.trim() !== "";
  const submit = (event: FormEvent): void => {
    event.preventDefault();
    const { cache_invalidate_on_update, collect_logs } = gateway;
    const body = {
      ...{ cache_invalidate_on_update, collect_logs, cache_ttl: ttl },
      rate_limiting_limit: isLimited ? Number(limit) : null,
      rate_limiting_interval: isLimited ? interval : null,
      retry_max_attempts: attempts === 1 ? null : attempts,
    };
    write.mutate({ method: "PUT", path: base, body });
  };
  const faults = write.error instanceof ApiError ? write.error.byField() : {};
  const limitFault = faults["rate_limiting_limit"] ?? faults["rate_limiting_interval"];
  return (
    <Card title="Cache and limits">
      <form className={tools["form"]} onSubmit={submit}>
        <Choice
          label="Keep answers"
          value={String(ttl)}
          options={options(CACHE_TTLS, ttl, (value) => (value === 0 ? "not at all" : `for ${duration(value)}`))}
          onChange={(value) => setTtl(Number(value))}
        />
        <div className={tools["two"]}>
          <TextInput
            label="Requests at most"
            placeholder="no limit"
            inputMode="numeric"
            value={limit}
            onChange={({ currentTarget }) => setLimit(currentTarget.value.replaceAll(/\D/g, ""))}
            error={limitFault && `${limitFault.message} (${limitFault.code})`}
          />
          <Choice
            label="In"
            value={String(interval)}
            options={options(INTERVALS, interval, duration)}
            onChange={(value) => setSpan(Number(value))}
          />
        </div>
        <Choice
          label="Ask a provider that fails"
          value={String(attempts)}
          options={options(ATTEMPTS, attempts, (value) => (value === 1 ? "once" : `up to ${value} times`))}
          onChange={(value) => setAttempts(Number(value))}
        />
        {write.error && !limitFault && (
          <Notice tone="bad">
            <Fault error={write.error} />
          </Notice>
        )}
        {write.isSuccess && <Notice tone="good">Saved, for the next request.</Notice>}
        <Actions>
          <Button type="submit" loading={write.isPending} loaderProps={{ type: "dots" }}>
            Save
          </Button>
        </Actions>
      </form>
    </Card>
  );
}
