import { constants } from "node:os";
import { createMessageHeaders, DATAGRAMS_MAX, NAME_STRIDE, type SlotMemory, wordsOf } from "./mmsghdr.ts";
import type { SystemSockets } from "./system-sockets.ts";

/**
 * Answers that leave together. Those of one length to one peer are one message, which the kernel cuts into datagrams
 * when most of its work is done (UDP_SEGMENT, udp(7)): proxies and load balancers ask many questions from one socket.
 */
export interface AnswerRuns {
  /** Forgets what was added before. */
  clear(): void;
  /** The first `bytes` of the slot's payload go to the slot's peer. Each slot at most once. */
  add(slot: number, bytes: number): void;
  /** How many of the answers the system would not take. */
  send(fd: number): number;
}

/** There is no room for more in one message over IPv4, whatever it is cut into. */
const RUN_BYTES_MAX = 65_507;
/** Twice as many as there can be runs, so that few share one. */
const PLACES = DATAGRAMS_MAX * 2;
const NO_RUN = 255;
const NAME_WORDS = NAME_STRIDE / 4;
/** What tells peers apart: family, port and address of struct sockaddr_in, and all of sockaddr_in6. */
const IPV4_WORDS = 2;
const IPV6_WORDS = 7;
/** A way out of the machine that does not take what is to be cut, such as one without checksums or with IPsec. */
const CANNOT_MERGE: readonly number[] = [constants.errno.EINVAL, constants.errno.EIO];

export function createAnswerRuns(sockets: SystemSockets, family: 4 | 6, memory: SlotMemory): AnswerRuns {
  const headers = createMessageHeaders(sockets, memory);
  const names = wordsOf(memory.names);
  const peerWords = family === 4 ? IPV4_WORDS : IPV6_WORDS;
  /** Of each run: its first slot and its last one, how many it has, and the length of each of its answers. */
  const [firsts, lasts, counts, lengths] = [numbers(), numbers(), numbers(), numbers()];
  /** For each slot the next one of its run. */
  const followers = numbers();
  /** By hash of peer and length the run that was begun last. */
  const places = new Uint8Array(PLACES).fill(NO_RUN);
  let runs = 0;
  let isMerging = sockets.cutsMessages;

  const placeOf = (slot: number, bytes: number): number => {
    const at = slot * NAME_WORDS;
    // The port, and the last word of either kind of address.
    const peer = (names[at] as number) ^ (names[at + (family === 4 ? 1 : 5)] as number);
    return (Math.imul(peer ^ bytes, 0x9e3779b1) >>> 16) % PLACES;
  };
  const isSamePeer = (one: number, other: number): boolean => {
    for (let i = 0; i < peerWords; i++) if (names[one * NAME_WORDS + i] !== names[other * NAME_WORDS + i]) return false;
    return true;
  };
  const begin = (slot: number, bytes: number): void => {
    firsts[runs] = slot;
    lasts[runs] = slot;
    counts[runs] = 1;
    lengths[runs] = bytes;
    runs += 1;
  };
  const pointHeaders = (): void => {
    for (let run = 0, part = 0; run < runs; run++) {
      const count = counts[run] as number;
      headers.point(run, firsts[run] as number, part, count, count === 1 ? 0 : (lengths[run] as number));
      for (let slot = firsts[run] as number, left = count; left > 0; left--, slot = followers[slot] as number) {
        headers.setPart(part++, slot, lengths[run] as number);
      }
    }
  };
  /** Each of the run as a message of its own. The first header and part are free by then: what they were for has been tried. */
  const sendAlone = (fd: number, run: number): number => {
    let failed = 0;
    for (let slot = firsts[run] as number, left = counts[run] as number; left > 0; left--, slot = followers[slot] as number) {
      headers.point(0, slot, 0, 1, 0);
      headers.setPart(0, slot, lengths[run] as number);
      if (sockets.send(fd, headers.address, 1) < 1) failed += 1;
    }
    return failed;
  };

  return {
    clear: () => {
      runs = 0;
      places.fill(NO_RUN);
    },
    add: (slot, bytes) => {
      const place = placeOf(slot, bytes);
      const run = isMerging ? (places[place] as number) : NO_RUN;
      const first = firsts[run] as number;
      if (run === NO_RUN || lengths[run] !== bytes || !isSamePeer(first, slot) || ((counts[run] as number) + 1) * bytes > RUN_BYTES_MAX) {
        places[place] = runs;
        begin(slot, bytes);
        return;
      }
      followers[lasts[run] as number] = slot;
      lasts[run] = slot;
      counts[run] = (counts[run] as number) + 1;
    },
    send: (fd) => {
      pointHeaders();
      let failed = 0;
      for (let at = 0; at < runs;) {
        const sent = sockets.send(fd, headers.address + at * headers.strideBytes, runs - at);
        // The first of the rest is refused, and those behind it are tried without it.
        at += sent > 0 ? sent : 1;
        if (sent > 0) continue;
        const run = at - 1;
        if (counts[run] === 1) {
          failed += 1;
          continue;
        }
        isMerging &&= !CANNOT_MERGE.includes(-sent);
        failed += sendAlone(fd, run);
      }
      return failed;
    },
  };
}

const numbers = (): Uint16Array => new Uint16Array(DATAGRAMS_MAX);
