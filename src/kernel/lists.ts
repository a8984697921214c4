/** The list under the key, made where there is none: what is pushed to it costs the same however long it is. */
export function listAt<Key, Item>(lists: Map<Key, Item[]>, key: Key): Item[] {
  let list = lists.get(key);
  if (list === undefined) lists.set(key, (list = []));
  return list;
}
