import { htmlDocument, rayLine } from "#edge/pages/html-document.ts";
import { ZERO_BITS } from "./clearance.ts";

/** The page sends its answer here; other CDNs use the same path for their services under a customer's name. */
export const CHALLENGE_PATH = "/cdn-cgi/challenge";

/**
 * The page that a visitor waits on while the browser searches for the number. It fetches nothing, and computes hashes
 * itself: browsers offer theirs only in a secure context, which sites over plain HTTP lack.
 */
export function challengePage(task: string, target: string, rayId: string): string {
  return htmlDocument(
    "One moment",
    `<h1>One moment</h1>
<p role="status" id="state">This site is checking that you are not a robot. You do not need to do anything.</p>
<progress aria-label="Checking your browser"></progress>
<noscript><p>Turn on JavaScript and load the page again to continue.</p></noscript>
${rayLine(rayId)}`,
    `(${worker.toString()})(${inScript(task)},${ZERO_BITS},${inScript(`${CHALLENGE_PATH}?to=${encodeURIComponent(target)}&task=`)})`,
  );
}

/** JSON that cannot end the script element that contains it. */
const inScript = (text: string): string => JSON.stringify(text).replaceAll("<", "\\u003c");

/** The parts of the browser that the worker uses. */
interface BrowserPage {
  readonly location: { replace(address: string): void };
  setTimeout(callback: () => void, ms: number): unknown;
}

/** Runs in the browser, as text: it may use nothing outside itself. The first word of SHA-256 (FIPS 180-4). */
function worker(task: string, zeroBits: number, answerTo: string): void {
  const page = globalThis as unknown as BrowserPage;
  const fraction = (root: number): number => ((root - Math.floor(root)) * 4294967296) | 0;
  const primes: number[] = [];
  for (let n = 2; primes.length < 64; n++) if (primes.every((prime) => n % prime !== 0)) primes.push(n);
  const constants = primes.map((prime) => fraction(Math.cbrt(prime)));
  const starts = primes.slice(0, 8).map((prime) => fraction(Math.sqrt(prime)));
  const turned = (word: number, bits: number): number => (word >>> bits) | (word << (32 - bits));

  const firstWord = (text: string): number => {
    const bytes = new Uint8Array(Math.ceil((text.length + 9) / 64) * 64);
    for (let i = 0; i < text.length; i++) bytes[i] = text.charCodeAt(i);
    bytes[text.length] = 128;
    const view = new DataView(bytes.buffer);
    view.setUint32(bytes.length - 4, text.length * 8);
    const state = starts.slice();
    const w = new Int32Array(64);
    for (let block = 0; block < bytes.length; block += 64) {
      for (let i = 0; i < 16; i++) w[i] = view.getInt32(block + i * 4);
      for (let i = 16; i < 64; i++) {
        const a = w[i - 15] as number;
        const b = w[i - 2] as number;
        const s0 = turned(a, 7) ^ turned(a, 18) ^ (a >>> 3);
        const s1 = turned(b, 17) ^ turned(b, 19) ^ (b >>> 10);
        w[i] = ((w[i - 16] as number) + s0 + (w[i - 7] as number) + s1) | 0;
      }
      let [a = 0, b = 0, c = 0, d = 0, e = 0, f = 0, g = 0, h = 0] = state;
      for (let i = 0; i < 64; i++) {
        const s1 = turned(e, 6) ^ turned(e, 11) ^ turned(e, 25);
        const t1 = (h + s1 + ((e & f) ^ (~e & g)) + (constants[i] as number) + (w[i] as number)) | 0;
        const s0 = turned(a, 2) ^ turned(a, 13) ^ turned(a, 22);
        const t2 = (s0 + ((a & b) ^ (a & c) ^ (b & c))) | 0;
        [h, g, f, e, d, c, b, a] = [g, f, e, (d + t1) | 0, c, b, a, (t1 + t2) | 0];
      }
      [a, b, c, d, e, f, g, h].forEach((word, i) => (state[i] = ((state[i] as number) + word) | 0));
    }
    return state[0] as number;
  };

  let next = 0;
  const look = (): void => {
    for (const stop = next + 2000; next < stop; next++)
      if (firstWord(`${task}:${next}`) >>> (32 - zeroBits) === 0)
        return page.location.replace(`${answerTo}${encodeURIComponent(task)}&answer=${next}`);
    page.setTimeout(look, 0);
  };
  look();
}
