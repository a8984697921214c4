import { parentPort, workerData } from "node:worker_threads";
import { type CoreRulesLocations, findCoreRules } from "./core-rules.ts";

/** Compiling takes a second, during which the main thread must serve other work. */
parentPort?.postMessage(findCoreRules(workerData as CoreRulesLocations));
