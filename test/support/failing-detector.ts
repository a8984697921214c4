import { BroadcastChannel } from "node:worker_threads";

/** The detector's thread with injected faults: on command it loops without end or uses up memory. */

const faults: Readonly<Record<string, () => void>> = {
  loop: () => {
    for (;;);
  },
  fill: () => {
    for (const all: unknown[] = []; ;) all.push(new Array(10_000).fill(all.length));
  },
};

const channel = new BroadcastChannel("detector-faults");
channel.addEventListener("message", (event) => faults[String((event as MessageEvent).data)]?.());
channel.unref();
await import("#edge/detection/worker.ts");
