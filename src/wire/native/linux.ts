/**
 * Constants and structs of Linux under the names of its headers, equal on x64 and arm64. `headers.test.ts` compares them
 * with the headers.
 */
export const LINUX = {
  AF_INET: 2,
  AF_INET6: 10,
  SOCK_STREAM: 1,
  SOCK_DGRAM: 2,
  SOCK_NONBLOCK: 0o4000,
  SOCK_CLOEXEC: 0o2000000,
  SOL_SOCKET: 1,
  SO_REUSEADDR: 2,
  SO_ERROR: 4,
  SO_SNDBUF: 7,
  SO_RCVBUF: 8,
  SO_LINGER: 13,
  SO_REUSEPORT: 15,
  SHUT_WR: 1,
  MSG_DONTWAIT: 0x40,
  MSG_NOSIGNAL: 0x4000,
  MSG_MORE: 0x8000,
  IPPROTO_IP: 0,
  IPPROTO_TCP: 6,
  IPPROTO_UDP: 17,
  IPPROTO_IPV6: 41,
  IP_MTU_DISCOVER: 10,
  IP_PMTUDISC_PROBE: 3,
  IPV6_V6ONLY: 26,
  TCP_NODELAY: 1,
  UDP_SEGMENT: 103,
  EPOLL_CLOEXEC: 0o2000000,
  EPOLL_CTL_ADD: 1,
  EPOLL_CTL_DEL: 2,
  EPOLL_CTL_MOD: 3,
  EPOLLIN: 0x1,
  EPOLLOUT: 0x4,
  EPOLLERR: 0x8,
  EPOLLHUP: 0x10,
  EPOLLRDHUP: 0x2000,
  EPOLLET: 1 << 31,
  EAGAIN: 11,
  EPROTO: 71,
  EINPROGRESS: 115,
  MADV_DONTNEED: 4,
  SCHED_OTHER: 0,
  SCHED_ATTR_SIZE_VER0: 48,
} as const;

/** Structs: the offsets of the members used, and `bytes`, the total size. */
export const STRUCTS = {
  sockaddr_in: { sin_family: 0, sin_port: 2, sin_addr: 4, bytes: 16 },
  sockaddr_in6: { sin6_family: 0, sin6_port: 2, sin6_addr: 8, bytes: 28 },
  linger: { l_onoff: 0, l_linger: 4, bytes: 8 },
  msghdr: { msg_name: 0, msg_namelen: 8, msg_iov: 16, msg_iovlen: 24, msg_control: 32, msg_controllen: 40, bytes: 56 },
  mmsghdr: { msg_hdr: 0, msg_len: 56, bytes: 64 },
  iovec: { iov_base: 0, iov_len: 8, bytes: 16 },
  cmsghdr: { cmsg_len: 0, cmsg_level: 8, cmsg_type: 12, bytes: 16 },
  sched_attr: { sched_policy: 4, sched_runtime: 24 },
} as const;

/** struct epoll_event, which is packed on x64 only; `data` has 8 bytes. */
export const EPOLL_EVENTS = {
  "linux-x64": { events: 0, data: 4, bytes: 12 },
  "linux-arm64": { events: 0, data: 8, bytes: 16 },
} as const;

/** System calls without a function in the C library. */
export const SYSTEM_CALLS = {
  "linux-x64": { SYS_sched_getattr: 315, SYS_sched_setattr: 314 },
  "linux-arm64": { SYS_sched_getattr: 275, SYS_sched_setattr: 274 },
} as const;

/** The row of this platform; undefined for others. */
export const ofPlatform = <T>(rows: Readonly<Record<string, T>>): T | undefined => rows[`${process.platform}-${process.arch}`];
