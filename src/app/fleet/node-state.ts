import { existsSync, mkdirSync, readFileSync, renameSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { PlaneRole } from "#app/config/roles.ts";
import type { JoinAnswer } from "./join-answer.ts";

/** A machine that has joined, in `node.json` of its data directory. */
export interface NodeState extends Omit<JoinAnswer, "keys" | "local_root"> {
  /** Of its user on the bus (nkey). */
  readonly seed: string;
  /** Where control's API was when the machine joined; absent in directories that joined with an earlier release. */
  readonly control_url?: string;
}

const stateFile = (dataDir: string): string => join(dataDir, "node.json");

/** The file with the keys of a plane. */
export const planeKeyFile = (dataDir: string, plane: PlaneRole): string => join(dataDir, `${plane}.keys`);

export const busRootFile = (dataDir: string): string => join(dataDir, "bus-ca.pem");

const controlRootFile = (dataDir: string): string => join(dataDir, "control-ca.pem");

/** PEM of the authority of control's API, given to `selvedge join`; null: those that the system trusts. */
export const readControlRoot = (dataDir: string): string | null => {
  const path = controlRootFile(dataDir);
  return existsSync(path) ? readFileSync(path, "utf8") : null;
};

/** Null in a directory that has not joined. Throws an Error if the file is damaged. */
export function readNodeState(dataDir: string): NodeState | null {
  const path = stateFile(dataDir);
  if (!existsSync(path)) return null;
  try {
    return JSON.parse(readFileSync(path, "utf8")) as NodeState;
  } catch (error) {
    throw new Error(`${path} is damaged; remove the node at control and join again in an empty directory`, { cause: error });
  }
}

/** Writes the files of a node, `node.json` last: without it the directory has not joined. */
export function writeNodeState(
  dataDir: string,
  { keys, local_root, ...state }: JoinAnswer,
  { control_root, ...own }: Pick<NodeState, "seed" | "control_url"> & { readonly control_root: string | null },
): void {
  mkdirSync(dataDir, { recursive: true, mode: 0o700 });
  for (const plane of state.planes) writePrivately(planeKeyFile(dataDir, plane), JSON.stringify(keys[plane]));
  writePrivately(join(dataDir, "ca.pem"), local_root);
  if (state.bus.root !== "") writePrivately(busRootFile(dataDir), state.bus.root);
  if (control_root !== null) writePrivately(controlRootFile(dataDir), control_root);
  writePrivately(stateFile(dataDir), `${JSON.stringify({ ...state, ...own } satisfies NodeState, null, 2)}\n`);
}

function writePrivately(path: string, text: string): void {
  writeFileSync(`${path}.new`, text, { mode: 0o600, flush: true });
  renameSync(`${path}.new`, path);
}
