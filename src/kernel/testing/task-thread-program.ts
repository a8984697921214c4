import { parentPort, threadId } from "node:worker_threads";

/** Answers with the task and the number of the thread; "end" ends it, "stall" never returns, "fail" throws. */
parentPort?.on("message", (task: string) => {
  if (task === "end") process.exit();
  if (task === "fail") throw new Error("the program failed");
  while (task === "stall");
  parentPort?.postMessage(`${task} ${threadId}`);
});
