import { newId } from "#kernel/crypto/ids.ts";
import { insertPasskey } from "#store/access/passkeys.ts";
import type { ApiServer } from "./api-server.ts";

/** A passkey of the first user. The API is tested at an address, where browsers make none. */
export async function plantPasskey({ store, user_id }: ApiServer): Promise<string> {
  const id = newId();
  const made = { credential_id: "cGxhbnRlZA", public_key: "cGxhbnRlZA", counter: 0, transports: "[]", synced: 0 };
  await store.write(({ db }) =>
    insertPasskey(db, { id, user_id, ...made, host: "localhost", name: "planted passkey", created_on: "2026-01-01T00:00:00Z" }),
  );
  return id;
}
