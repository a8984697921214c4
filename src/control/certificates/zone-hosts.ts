/** RFC 1035 §2.3.4: the name must still fit with a wildcard label. */
const WILDCARD_PARENT_LENGTH_MAX = 251;

/** Names in a zone's certificate: the apex and a wildcard for the names one label below it. None with the slash of RFC 2317 are hosts. */
export const zoneHosts = (name: string): readonly string[] =>
  name.includes("/") ? [] : name.length <= WILDCARD_PARENT_LENGTH_MAX ? [name, `*.${name}`] : [name];
