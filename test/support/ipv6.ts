import { networkInterfaces } from "node:os";

/** Containers and kernels may lack it. */
const hasIpv6 = Object.values(networkInterfaces()).some((addresses) => addresses?.some(({ address }) => address === "::1"));

/** For the `skip` option of a test that needs IPv6 on the loopback interface. */
export const skipWithoutIpv6: string | false = hasIpv6 ? false : "this machine has no IPv6";

/** The loopback address of each family that the machine has. */
export const LOOPBACKS: readonly string[] = hasIpv6 ? ["127.0.0.1", "::1"] : ["127.0.0.1"];
