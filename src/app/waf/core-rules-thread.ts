import { parentPort, workerData } from "node:worker_threads";
import { type CoreRulesPlaces, findCoreRules } from "./core-rules.ts";

/** Compiling takes a second, in which the main thread has others to serve. */
parentPort?.postMessage(findCoreRules(workerData as CoreRulesPlaces));
