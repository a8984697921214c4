import { Button, PasswordInput, TextInput } from "@mantine/core";
import type { FormEvent } from "react";
import type { Totp, TotpConfirmed, TotpStarted } from "#model/access/totp.ts";
import { ApiError } from "../../../api/client.ts";
import { useRead, useWrite } from "../../../api/hooks.ts";
import { CopyBlock } from "../../../parts/copy-block.tsx";
import { Badge, Card, Failed, Fault, Loading, Notice } from "../../../parts/page.tsx";
import { QrCode } from "../../../parts/qr-code.tsx";
import tools from "../../../parts/tools.module.css";

const PATH = "/user/totp";

/** Codes of an authenticator program beside the password. */
export function OneTimeCodes() {
  const read = useRead<Totp>(PATH);
  const start = useWrite<TotpStarted>();
  const confirm = useWrite<TotpConfirmed>(PATH);
  const end = useWrite<Totp>(PATH);
  const totp = read.data?.result;
  const submit =
    (name: "code" | "current_password", go: (body: object) => void) =>
    (event: FormEvent<HTMLFormElement>): void => {
      event.preventDefault();
      go({ [name]: String(new FormData(event.currentTarget).get(name) ?? "").trim() });
    };
  const begin = submit("current_password", (body) => start.mutate({ method: "POST", path: PATH, body }));
  const turnOn = submit("code", (body) => confirm.mutate({ method: "PUT", path: PATH, body }, { onSuccess: start.reset }));
  const turnOff = submit("code", (body) => end.mutate({ method: "DELETE", path: PATH, body }, { onSuccess: confirm.reset }));
  const started = start.data?.result;
  return (
    <Card title="One-time codes" aside={totp && <Badge tone={totp.enabled ? "good" : "plain"}>{totp.enabled ? "on" : "off"}</Badge>}>
      {read.error ? (
        <Failed error={read.error} onAgain={() => void read.refetch()} />
      ) : !totp ? (
        <Loading />
      ) : totp.enabled ? (
        <div className={tools["stack"]}>
          {confirm.data && <RecoveryCodes codes={confirm.data.result.recovery_codes} />}
          <p className={tools["hint"]}>Signing in takes your password and a code. {totp.recovery_codes_left} recovery codes are left.</p>
          <form className={tools["form"]} onSubmit={turnOff}>
            <Field name="code" label="A code, to turn them off" error={end.error} />
            <div className={tools["row"]}>
              <Button type="submit" variant="default" loading={end.isPending} loaderProps={{ type: "dots" }}>
                Turn one-time codes off
              </Button>
            </div>
          </form>
        </div>
      ) : started ? (
        <form className={tools["form"]} onSubmit={turnOn}>
          <p className={tools["hint"]}>
            Scan this with an authenticator program, or type the secret into it. Then enter the code that it shows.
          </p>
          <QrCode text={started.url} label="The secret as a QR code" />
          <CopyBlock label="the secret" text={started.secret} />
          <Field name="code" label="Code" error={confirm.error} />
          <div className={tools["row"]}>
            <Button type="submit" loading={confirm.isPending} loaderProps={{ type: "dots" }}>
              Turn one-time codes on
            </Button>
          </div>
        </form>
      ) : (
        <form className={tools["form"]} onSubmit={begin}>
          <p className={tools["hint"]}>A code from your phone, besides the password, keeps out somebody who has only the password.</p>
          <Field name="current_password" label="Your password" error={start.error} />
          <div className={tools["row"]}>
            <Button type="submit" variant="default" loading={start.isPending} loaderProps={{ type: "dots" }}>
              Set one-time codes up
            </Button>
          </div>
        </form>
      )}
    </Card>
  );
}

interface FieldProps {
  readonly name: "code" | "current_password";
  readonly label: string;
  readonly error: Error | null;
}

function Field({ name, label, error }: FieldProps) {
  const fault = error instanceof ApiError ? error.byField()[name] : undefined;
  const common = { name, label, error: fault?.message, required: true };
  return (
    <>
      {name === "code" ? (
        <TextInput {...common} autoComplete="one-time-code" spellCheck={false} />
      ) : (
        <PasswordInput {...common} autoComplete="current-password" />
      )}
      {error && !fault && (
        <Notice tone="bad">
          <Fault error={error} />
        </Notice>
      )}
    </>
  );
}

const RecoveryCodes = ({ codes }: { readonly codes: readonly string[] }) => (
  <>
    <Notice tone="good" title="One-time codes are on">
      Keep these recovery codes where your phone is not. Each replaces one code. They are not shown again.
    </Notice>
    <CopyBlock label="the recovery codes" text={codes.join("\n")} />
  </>
);
