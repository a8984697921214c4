import { Button, PasswordInput, TextInput } from "@mantine/core";
import { useMutation, useQueryClient } from "@tanstack/react-query";
import { type FormEvent, useState } from "react";
import { api, ApiError } from "../api/client.ts";
import { Fault, Notice } from "../parts/page.tsx";
import { browserLabel } from "./session.ts";
import { SignInForm } from "./sign-in-form.tsx";
import css from "./signed-out.module.css";

const INVALID_TOKEN = 9109;

/** First run: the holder of the token that the first start printed becomes the first user. */
export function SetUpForm() {
  const client = useQueryClient();
  const [hasToken, setHasToken] = useState(true);
  const setUp = useMutation({
    mutationFn: ({ token, ...body }: { token: string; email: string; password: string; label: string }) =>
      api("POST", "/user/setup", body, { headers: { authorization: `Bearer ${token}` }, isShown: false }),
    onSuccess: () => client.invalidateQueries(),
  });
  const submit = (event: FormEvent<HTMLFormElement>): void => {
    event.preventDefault();
    const field = (name: string): string => String(new FormData(event.currentTarget).get(name) ?? "");
    setUp.mutate({ token: field("token").trim(), email: field("email").trim(), password: field("password"), label: browserLabel() });
  };
  if (!hasToken) return <SignInForm way="token" />;
  const faults = setUp.error instanceof ApiError ? setUp.error.byField() : {};
  const isTokenWrong = setUp.error instanceof ApiError && setUp.error.code === INVALID_TOKEN;
  const isBesideField = isTokenWrong || faults["email"] !== undefined || faults["password"] !== undefined;
  return (
    <form className={css["form"]} onSubmit={submit}>
      <div>
        <h1>Set up Selvedge</h1>
        <p className={css["lead"]}>The first start printed a token in the terminal. It shows that this server is yours.</p>
      </div>
      {setUp.error && !isBesideField && (
        <Notice tone="bad">
          <Fault error={setUp.error} />
        </Notice>
      )}
      <PasswordInput
        label="Token from the terminal"
        description={
          <>
            <code>selvedge token reset</code> prints a new one if it is lost.
          </>
        }
        name="token"
        autoComplete="off"
        required
        autoFocus
        error={isTokenWrong && "The server does not know this token."}
      />
      <TextInput label="Your e-mail" name="email" type="email" autoComplete="username" required error={faults["email"]?.message} />
      <PasswordInput
        label="Password"
        description="At least 12 characters. A few words in a row are easier to remember."
        name="password"
        autoComplete="new-password"
        minLength={12}
        required
        error={faults["password"]?.message}
      />
      <Button type="submit" size="sm" loading={setUp.isPending} loaderProps={{ type: "dots" }}>
        Create the first user
      </Button>
      <button type="button" className={css["other"]} onClick={() => setHasToken(false)}>
        Sign in with an API token only
      </button>
    </form>
  );
}
