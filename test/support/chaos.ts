import { once } from "node:events";
import { connect, createServer, type Socket } from "node:net";
import type { AddressInfo } from "node:net";
import { setTimeout as delay } from "node:timers/promises";

/** A part that a chaos test can harm. Each action heals what it did, so that actions can follow each other in any order. */
export interface Fault {
  readonly name: string;
  run(): Promise<void>;
}

/** A TCP relay that can be cut: connections end, and new ones are not accepted. */
export interface Relay {
  readonly port: number;
  cutFor(ms: number): Promise<void>;
  close(): void;
}

export async function startRelay(target: number): Promise<Relay> {
  const open = new Set<Socket>();
  let isCut = false;
  const server = createServer((near) => {
    if (isCut) return void near.destroy();
    const far = connect(target, "127.0.0.1");
    const end = (): void => [near, far].forEach((socket) => socket.destroy());
    for (const socket of [near, far]) {
      open.add(socket);
      socket.on("error", end).on("close", () => {
        open.delete(socket);
        end();
      });
    }
    near.pipe(far).pipe(near);
  }).listen(0, "127.0.0.1");
  await once(server, "listening");
  return {
    port: (server.address() as AddressInfo).port,
    cutFor: async (ms) => {
      isCut = true;
      for (const socket of open) socket.destroy();
      await delay(ms);
      isCut = false;
    },
    close: () => {
      server.close();
      for (const socket of open) socket.destroy();
    },
  };
}

/** Contents of names as a client of the API knows them: a call without an answer leaves several possibilities. */
export class Expected {
  /** `null` stands for no record. */
  readonly #possible = new Map<string, Set<string | null>>();

  begin(name: string, content: string | null): void {
    const possible = this.#possible.get(name) ?? new Set([null]);
    this.#possible.set(name, possible.add(content));
  }

  /** The call that set this content succeeded. */
  acknowledged(name: string, content: string | null): void {
    this.#possible.set(name, new Set([content]));
  }

  names(): readonly string[] {
    return [...this.#possible.keys()];
  }

  allows(name: string, content: string | null): boolean {
    return this.#possible.get(name)?.has(content) ?? content === null;
  }
}

/** A generator of numbers below 1 from a seed (xorshift32). */
export function randomFrom(seed: number): () => number {
  let state = seed >>> 0 || 1;
  return () => {
    state ^= state << 13;
    state ^= state >>> 17;
    state ^= state << 5;
    return (state >>> 0) / 2 ** 32;
  };
}
