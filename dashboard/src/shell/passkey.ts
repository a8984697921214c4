import type { PasskeyRequest, PasskeyStarted } from "#model/access/passkey.ts";
import { api } from "../api/client.ts";
import { browserLabel } from "./session.ts";

/** Whether browsers have passkeys here: in a safe context under a name. */
export const hasPasskeys = (): boolean =>
  "PublicKeyCredential" in window && isSecureContext && !/^(?:[0-9.]+|\[.*\])$/.test(location.hostname);

/** The library is loaded with the first passkey. */
const library = () => import("@simplewebauthn/browser");

/**
 * Signs in with a passkey that the user chooses. `isOffered`: among the entries that the browser offers for the e-mail field; the promise
 * then waits until one is chosen. Rejects with the browser's reason, or with what the API says.
 */
export async function signInWithPasskey({ isOffered = false } = {}): Promise<void> {
  const { startAuthentication, browserSupportsWebAuthnAutofill } = await library();
  if (isOffered && !(await browserSupportsWebAuthnAutofill())) return new Promise(() => undefined);
  const { result } = await api<PasskeyRequest>("POST", "/sign_in/passkey", undefined, { isShown: false });
  const answer = await startAuthentication({
    optionsJSON: { ...result, allowCredentials: [] },
    useBrowserAutofill: isOffered,
  });
  const text = JSON.stringify({ id: answer.id, response: answer.response });
  const authorization = `Passkey ${btoa(text).replaceAll("+", "-").replaceAll("/", "_").replaceAll("=", "")}`;
  await api("POST", "/user/sessions", { label: browserLabel() }, { headers: { authorization }, isShown: false });
}

/** Ends an offer in the e-mail field. */
export const endOffer = async (): Promise<void> => (await library()).WebAuthnAbortService.cancelCeremony();

/** Has the browser make a passkey. */
export async function makePasskey(options: PasskeyStarted): Promise<object> {
  const { startRegistration } = await library();
  const { id, response } = await startRegistration({ optionsJSON: options as Parameters<typeof startRegistration>[0]["optionsJSON"] });
  const { clientDataJSON, attestationObject, transports } = response;
  return { id, response: { clientDataJSON, attestationObject, ...(transports && { transports }) } };
}

/** A sentence about why the browser has made or used no passkey. */
export function passkeyFault(error: Error): Error {
  if (error.name === "NotAllowedError" || error.name === "AbortError")
    return new Error("No passkey was used: the browser ended the dialog, or its time was over.");
  if (error.name === "InvalidStateError") return new Error("This device has a passkey for you already.");
  if (error.name === "SecurityError") return new Error("The browser has no passkeys for this address.");
  return error;
}
