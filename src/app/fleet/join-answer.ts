import type { PlaneKeys } from "#kernel/crypto/plane-keys.ts";
import type { NodePlane } from "#model/access/node.ts";

/** All that a node needs of control, once. */
export interface JoinAnswer {
  readonly name: string;
  readonly planes: readonly NodePlane[];
  /** Of its user on the bus, whose key it has made itself. */
  readonly jwt: string;
  /** `root`: PEM of the authority of the bus's certificate; empty: one that the system trusts. */
  readonly bus: { readonly url: string; readonly root: string };
  /** PEM; signs all changes. */
  readonly control_key: string;
  /** PEM of the local certificate authority. */
  readonly local_root: string;
  /** Keys of its planes, which open the secrets that these need. */
  readonly keys: Readonly<Record<string, PlaneKeys>>;
}
