import type { GatewayLogDetail } from "#model/gateways/gateway-log.ts";
import { useRead } from "../../api/hooks.ts";
import { Panel } from "../../parts/dialogs/modal.tsx";
import { Facts, Failed, Loading } from "../../parts/page.tsx";
import { count, money, Time } from "../../parts/time.tsx";
import { foundWords } from "./guards/found-words.ts";
import { Talk } from "./talk.tsx";

/** One request as a conversation, as far as its bodies are kept. */
export function LogDetail({ path, onClose }: { readonly path: string; readonly onClose: () => void }) {
  const read = useRead<GatewayLogDetail>(path);
  const log = read.data?.result;
  return (
    <Panel title="A request through the gateway" size={600} onClose={onClose}>
      {read.error ? (
        <Failed error={read.error} />
      ) : !log ? (
        <Loading />
      ) : (
        <>
          <Facts
            of={[
              ["When", <Time key="t" of={log.created_at} />],
              ["Model", `${log.model} (${log.provider})`],
              ["Status", String(log.status_code)],
              ["Cost", log.cost === null ? "no price is known" : money(log.cost)],
              ["Tokens", `${count(log.tokens_in ?? 0)} in, ${count(log.tokens_out ?? 0)} out`],
              ["Time", `${count(log.duration)} ms${log.cached ? ", from the cache" : ""}`],
              ["Metadata", log.metadata || "none"],
              ["Protection", foundWords(log) || "found nothing"],
            ]}
          />
          <Talk request={log.request_head} response={log.response_head} />
        </>
      )}
    </Panel>
  );
}
