import { parentPort } from "node:worker_threads";
import { createMetrics } from "#kernel/process/metrics.ts";
import { createWorkerChannel } from "#kernel/process/worker-protocol.ts";
import { loadKoffi } from "#wire/native/koffi.ts";
import { createWakeUp } from "#wire/native/wake-up.ts";

// A thread that only makes native calls, like a plane that closes many connections.

if (parentPort === null) throw new Error("this file runs as a thread");
const koffi = await loadKoffi();
const libc = koffi.load(null);
const close = libc.func("int close(int fd)");
const epoll = libc.func("int epoll_create1(int flags)");
const wakeUp = createWakeUp(koffi);

const EPOLLS = 20;
const work = (): void => {
  for (let n = 0; n < EPOLLS; n++) {
    const fd = epoll(0);
    wakeUp(fd).close();
    close(fd);
  }
  setImmediate(work);
};

const channel = createWorkerChannel(parentPort);
channel.serve({ metrics: createMetrics(), drain: async () => {} });
channel.listening({});
work();
