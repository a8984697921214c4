import { note } from "./calls.ts";
import { BASE, cutOff, envelopeOf, type Reply } from "./client.ts";

/** Sends a form, and says after each piece which share of it is sent: `fetch` does not tell. */
export const upload = <T>(path: string, form: FormData, onSent: (share: number) => void): Promise<Reply<T>> =>
  new Promise((resolve, reject) => {
    const request = new XMLHttpRequest();
    request.open("POST", BASE + path);
    request.upload.addEventListener("progress", ({ loaded, total }) => onSent(total === 0 ? 0 : loaded / total));
    request.addEventListener("error", () => reject(cutOff()));
    request.addEventListener("load", () => {
      note({ method: "POST", path, body: "(a form)", status: request.status });
      try {
        const headers = { get: (name: string) => request.getResponseHeader(name) };
        resolve(envelopeOf<T>({ status: request.status, headers }, request.responseText));
      } catch (error) {
        reject(error as Error);
      }
    });
    request.send(form);
  });
