import { Button, Textarea, TextInput } from "@mantine/core";
import { useMutation } from "@tanstack/react-query";
import { type FormEvent, useState } from "react";
import type { Gateway } from "#model/gateways/gateway.ts";
import type { GatewayTried } from "#model/gateways/gateway-try.ts";
import { api } from "../../api/client.ts";
import { useAddress } from "../../api/search.ts";
import { Badge, Card, Empty, Facts, Fault, Notice } from "../../parts/page.tsx";
import { count } from "../../parts/time.tsx";
import tools from "../../parts/tools.module.css";
import { useHourToken } from "./gateway-token.ts";
import { GatewayFrame } from "./gateway.tsx";
import { LogDetail } from "./log-detail.tsx";
import { Talk } from "./talk.tsx";

export const TryChatPage = () => (
  <GatewayFrame>{(base, gateway, accountId) => <TryChat base={base} gateway={gateway} accountId={accountId} />}</GatewayFrame>
);

interface TryProps {
  readonly base: string;
  readonly gateway: Gateway;
  readonly accountId: string;
}

interface Exchange {
  readonly request: string;
  readonly tried: GatewayTried;
}

/** A chat through the gateway, with everything that the gateway does to it. The token and the key stay in this page's memory. */
function TryChat({ base, gateway, accountId }: TryProps) {
  const [{ model: asked }] = useAddress();
  const [model, setModel] = useState(asked ?? "openai/gpt-4o-mini");
  const [system, setSystem] = useState("");
  const [message, setMessage] = useState("");
  const [token, setToken] = useState("");
  const [key, setKey] = useState("");
  const made = useHourToken(accountId, `Try it, gateway ${gateway.id}`);
  const send = useMutation({
    mutationFn: async (): Promise<Exchange> => {
      const query = {
        model: model.trim(),
        messages: [...(system === "" ? [] : [{ role: "system", content: system }]), { role: "user", content: message }],
      };
      const headers = {
        ...(token === "" ? {} : { "cf-aig-authorization": `Bearer ${token.trim()}` }),
        ...(key === "" ? {} : { authorization: `Bearer ${key.trim()}` }),
      };
      const { result } = await api<GatewayTried>("POST", `${base}/try`, { endpoint: "compat/chat/completions", headers, query });
      return { request: JSON.stringify(query), tried: result };
    },
  });
  const submit = (event: FormEvent): void => {
    event.preventDefault();
    send.mutate();
  };
  return (
    <div className={tools["wide"]}>
      <div>
        <Card title="The request">
          <form className={tools["form"]} onSubmit={submit}>
            <TextInput
              label="Model"
              description="The provider, a slash and the model; or dynamic/ and the name of a route"
              value={model}
              onChange={({ currentTarget }) => setModel(currentTarget.value)}
              required
              spellCheck={false}
            />
            <Textarea
              label="Instructions"
              description="The system message; may be empty"
              rows={2}
              value={system}
              onChange={({ currentTarget }) => setSystem(currentTarget.value)}
            />
            <Textarea label="Message" rows={4} value={message} onChange={({ currentTarget }) => setMessage(currentTarget.value)} required />
            <div className={tools["two"]}>
              <TextInput
                label="Gateway token"
                description={gateway.authentication ? "This gateway asks for one" : "For stored provider keys"}
                type="password"
                autoComplete="off"
                value={token}
                onChange={({ currentTarget }) => setToken(currentTarget.value)}
                required={gateway.authentication ?? false}
              />
              <TextInput
                label="Provider key"
                description="Empty: the stored key"
                type="password"
                autoComplete="off"
                value={key}
                onChange={({ currentTarget }) => setKey(currentTarget.value)}
              />
            </div>
            {(made.error ?? send.error) && (
              <Notice tone="bad">
                <Fault error={(made.error ?? send.error) as Error} />
              </Notice>
            )}
            <div className={tools["row"]}>
              <Button type="submit" loading={send.isPending} loaderProps={{ type: "dots" }}>
                Send
              </Button>
              <Button
                variant="default"
                onClick={() => made.mutate(undefined, { onSuccess: setToken })}
                loading={made.isPending}
                loaderProps={{ type: "dots" }}
              >
                Create a token for one hour
              </Button>
            </div>
          </form>
        </Card>
      </div>
      <div>
        <Card title="The answer">{send.data ? <Answer {...send.data} base={base} /> : <Empty title="Nothing was sent yet" />}</Card>
      </div>
    </div>
  );
}

/** Fields of the gateway's response that a person reads. */
const FIELDS = ["provider", "model", "cache-status", "step"] as const;

function Answer({ request, tried, base }: Exchange & { readonly base: string }) {
  const { status, headers, body, duration_ms: duration, is_truncated: isTruncated } = tried;
  const [isOpen, setOpen] = useState(false);
  const usage = usageOf(body);
  const field = (name: string): string | undefined => headers[`cf-aig-${name}`];
  const log = field("log-id");
  return (
    <div className={tools["stack"]}>
      <Facts
        of={[
          [
            "Status",
            <Badge key="s" tone={status < 400 ? "good" : status < 500 ? "warn" : "bad"}>
              {status}
            </Badge>,
          ],
          ["Time", `${count(duration)} ms`],
          ...(usage === undefined ? [] : [["Tokens", usage] as const]),
          ...FIELDS.flatMap((name) => {
            const value = field(name);
            return value === undefined ? [] : [[TITLES[name], value] as const];
          }),
        ]}
      />
      <Talk request={request} response={body} />
      {isTruncated && <p className={tools["quiet"]}>Only the first megabyte is shown.</p>}
      {log !== undefined && (
        <div className={tools["row"]}>
          <Button variant="default" onClick={() => setOpen(true)}>
            Show its log
          </Button>
        </div>
      )}
      {isOpen && log !== undefined && <LogDetail path={`${base}/logs/${log}`} onClose={() => setOpen(false)} />}
    </div>
  );
}

const TITLES: Readonly<Record<(typeof FIELDS)[number], string>> = {
  provider: "Provider",
  model: "Model",
  "cache-status": "Cache",
  step: "Attempt",
};

function usageOf(body: string): string | undefined {
  try {
    const { usage } = JSON.parse(body) as { usage?: { prompt_tokens?: number; completion_tokens?: number } };
    return usage && `${count(usage.prompt_tokens ?? 0)} in, ${count(usage.completion_tokens ?? 0)} out`;
  } catch {
    return undefined;
  }
}
