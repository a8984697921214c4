/** RFC 1035 §2.3.4: with the wildcard label the name must still fit. */
const WILDCARD_PARENT_LENGTH_MAX = 251;

/** What a zone's own certificate covers: the apex and every name one label below it. */
export const zoneHosts = (name: string): readonly string[] => (name.length <= WILDCARD_PARENT_LENGTH_MAX ? [name, `*.${name}`] : [name]);
