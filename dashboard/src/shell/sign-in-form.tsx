import { Button, PasswordInput, TextInput } from "@mantine/core";
import { useMutation, useQueryClient } from "@tanstack/react-query";
import { type FormEvent, useEffect, useState } from "react";
import { api, ApiError } from "../api/client.ts";
import { Fault, Notice } from "../parts/page.tsx";
import { providerFault, rememberPlace, useProvider } from "./provider.ts";
import { endOffer, hasPasskeys, passkeyFault, signInWithPasskey } from "./passkey.ts";
import { basicCredentials, browserLabel } from "./session.ts";
import css from "./signed-out.module.css";

type Way = "password" | "token";

/** `hasEnded`: it stands over a page whose session is over. */
interface SignInProps {
  readonly hasEnded?: boolean;
  readonly onSignedIn?: () => void;
  readonly way?: Way;
}

/** The API asks for the code only after the password was right. */
const CODE_REQUIRED = 10_445;
const WRONG_CODE = 10_446;
const isAboutCode = (error: Error): boolean => error instanceof ApiError && [CODE_REQUIRED, WRONG_CODE].includes(error.code);

/** A challenge lasts ten minutes; the page may stay open for longer. */
const OFFERED_AGAIN_MS = 9 * 60_000;

/** Offers passkeys among the entries for the e-mail field, where the browser can. */
function usePasskeyOffer(onSignedIn: () => void): Error | undefined {
  const [error, setError] = useState<Error>();
  useEffect(() => {
    if (!hasPasskeys()) return undefined;
    let isOver = false;
    const offer = (): void =>
      void signInWithPasskey({ isOffered: true }).then(
        () => isOver || onSignedIn(),
        // Reasons of the browser belong to offers that nobody took.
        (reason: unknown) => isOver || (reason instanceof ApiError && setError(reason)),
      );
    offer();
    const again = setInterval(offer, OFFERED_AGAIN_MS);
    return () => {
      isOver = true;
      clearInterval(again);
      void endOffer();
    };
    // Once for a form.
  }, []);
  return error;
}

/** Signs in and reads everything again. */
export function SignInForm({ hasEnded = false, onSignedIn, way: first = "password" }: SignInProps) {
  const client = useQueryClient();
  const [way, setWay] = useState<Way>(first);
  const [isCodeAsked, setAsked] = useState(false);
  const signIn = useMutation({
    mutationFn: ({ authorization, code }: { authorization: string; code: string }) =>
      api("POST", "/user/sessions", { label: browserLabel(), ...(code && { code }) }, { headers: { authorization }, isShown: false }),
    onSuccess: () => done(),
  });
  const done = (): Promise<void> => {
    onSignedIn?.();
    return client.invalidateQueries();
  };
  const passkey = useMutation({ mutationFn: () => signInWithPasskey(), onSuccess: done });
  const offerError = usePasskeyOffer(() => void done());
  const provider = useProvider();
  // Read once: the address then belongs to the next page again.
  const [returned] = useState(() => providerFault(location.hash));
  useEffect(() => {
    if (returned) history.replaceState(history.state, "", location.pathname + location.search);
  }, [returned]);
  const error = signIn.error ?? (passkey.error ? passkeyFault(passkey.error) : offerError);
  const submit = (event: FormEvent<HTMLFormElement>): void => {
    event.preventDefault();
    const field = (name: string): string => String(new FormData(event.currentTarget).get(name) ?? "");
    const authorization =
      way === "password" ? basicCredentials(field("email").trim(), field("password")) : `Bearer ${field("token").trim()}`;
    passkey.reset();
    signIn.mutate({ authorization, code: field("code").trim() }, { onError: (error) => setAsked(isAboutCode(error)) });
  };
  const turn = (): void => {
    signIn.reset();
    passkey.reset();
    setAsked(false);
    setWay(way === "password" ? "token" : "password");
  };
  return (
    <form className={css["form"]} onSubmit={submit}>
      <h1>{hasEnded ? "Sign in again" : "Sign in"}</h1>
      {hasEnded && <p className={css["lead"]}>Your session has ended. Your entries are still here.</p>}
      {!error && returned && (
        <Notice tone="bad">
          {returned.text}{" "}
          <a href={`/docs/errors/${returned.code}`} target="_blank" rel="noopener">
            Error {returned.code}
          </a>
        </Notice>
      )}
      {error && !isAboutCode(error) && (
        <Notice tone="bad">
          <Fault error={error} />
        </Notice>
      )}
      {way === "password" ? (
        <>
          <TextInput label="E-mail" name="email" type="email" autoComplete="username webauthn" required autoFocus />
          <PasswordInput label="Password" name="password" autoComplete="current-password" required />
          {isCodeAsked && (
            <TextInput
              label="Code"
              description="Six digits of your authenticator program, or a recovery code"
              name="code"
              error={error instanceof ApiError && error.code === WRONG_CODE && error.message}
              autoComplete="one-time-code"
              spellCheck={false}
              required
              autoFocus
            />
          )}
        </>
      ) : (
        <PasswordInput
          label="API token"
          description="The session has the token's permissions, and ends with it."
          name="token"
          autoComplete="off"
          required
          autoFocus
        />
      )}
      <Button type="submit" size="sm" loading={signIn.isPending} loaderProps={{ type: "dots" }}>
        Sign in
      </Button>
      {way === "password" && hasPasskeys() && (
        <Button
          variant="default"
          size="sm"
          loading={passkey.isPending}
          loaderProps={{ type: "dots" }}
          onClick={() => {
            signIn.reset();
            passkey.mutate();
          }}
        >
          Sign in with a passkey
        </Button>
      )}
      {provider && (
        <Button component="a" href={provider.href} onClick={rememberPlace} variant="default" size="sm">
          Sign in with {provider.name}
        </Button>
      )}
      <button type="button" className={css["other"]} onClick={turn}>
        {way === "password" ? "Use an API token instead" : "Use e-mail and password instead"}
      </button>
    </form>
  );
}
