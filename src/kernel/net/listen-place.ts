/** An address at which a listener accepts clients. Plain data, so that it can be sent to a thread. */
export interface ListenPlace {
  readonly host: string;
  /** 0: any free port. */
  readonly port: number;
  /** Use any free port if this one cannot be had. */
  readonly orAny?: boolean;
  /** `::` leaves IPv4 to another place of the same listener. */
  readonly onlyIpv6?: boolean;
}

/** Name of a listener's socket at its nth place: `http`, then `http+2`, `http+3`. */
export const socketName = (transport: string, index: number): string => (index === 0 ? transport : `${transport}+${index + 1}`);

/** The transport of a name, and the index of the place. */
export function socketOf(name: string): { readonly transport: string; readonly index: number } {
  const [transport = "", number] = name.split("+");
  return { transport, index: number === undefined ? 0 : Number(number) - 1 };
}

/** Whether a place is not to be had: its port is in use, or not allowed for this user. */
export const isOccupied = (error: unknown): boolean => ["EADDRINUSE", "EACCES"].includes((error as NodeJS.ErrnoException).code ?? "");
