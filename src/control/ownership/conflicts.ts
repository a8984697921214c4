/** An active zone whose ownership is doubtful. */
export interface ZoneConflict {
  readonly name: string;
  readonly zone_id: string;
  readonly account_id: string;
  /** Another account's zone above it; null if its name is reserved for the installation. */
  readonly above: { readonly name: string; readonly account_id: string } | null;
}

export interface ActiveZoneName {
  readonly id: string;
  readonly name: string;
  readonly account_id: string;
  readonly proof: string;
}

/** Active, unproved zones below another account's zone, or with a reserved name. */
export function zoneConflicts(
  zones: readonly ActiveZoneName[],
  isReserved: (name: string, accountId: string) => boolean,
): readonly ZoneConflict[] {
  const byName = new Map(zones.map((zone) => [zone.name, zone]));
  const nearestAbove = (name: string): ActiveZoneName | undefined => {
    for (let dot = name.indexOf("."); dot >= 0; dot = name.indexOf(".", dot + 1)) {
      const zone = byName.get(name.slice(dot + 1));
      if (zone !== undefined) return zone;
    }
    return undefined;
  };
  return zones
    .filter(({ proof }) => proof === "none")
    .flatMap(({ id, name, account_id }): ZoneConflict[] => {
      const found = { name, zone_id: id, account_id };
      if (isReserved(name, account_id)) return [{ ...found, above: null }];
      const above = nearestAbove(name);
      if (above === undefined || above.account_id === account_id) return [];
      return [{ ...found, above: { name: above.name, account_id: above.account_id } }];
    });
}

/** For people, without a full stop at the end. */
export const conflictText = ({ name, account_id, above }: ZoneConflict): string =>
  above === null
    ? `${name} of account ${account_id}: the name is reserved for this installation`
    : `${name} of account ${account_id}: it is below ${above.name} of account ${above.account_id}`;
