import { type LookupAddress, lookup as systemLookup } from 'node:dns';
import { isIP, type LookupFunction, connect as netConnect, type Socket } from 'node:net';
import ipaddr from 'ipaddr.js';
import { Agent, buildConnector } from 'undici';
import { type EgressRule, isOpened } from '../../config/egress-rule.ts';
import { EgressRefused } from './egress-refused.ts';

/** A connection pool. Each connection is checked after its name was resolved. */
export interface GuardedAgent {
  readonly dispatcher: Agent;
  /** Opens a connection for another protocol than HTTP. */
  connect(target: Target, signal?: AbortSignal): Promise<Socket>;
  /** Closes connections that the rules no longer allow, even while they are in use. */
  dropClosed(): void;
}

export interface Target {
  readonly name: string;
  readonly port: number;
}

/**
 * Creates the pool. It connects to exactly the addresses that were checked: if the name were resolved once for the
 * check and again for the connection, a DNS server could change its answer in between.
 */
export function guardedAgent(
  rules: () => readonly EgressRule[],
  lookup: LookupFunction = systemLookup,
  dial: typeof buildConnector = buildConnector,
): GuardedAgent {
  const open = new Map<Socket, Target>();
  const problem = (target: Target, address: string): string | undefined =>
    isOpened(rules(), { ...target, address }) ? undefined : forbiddenAddress(address);
  // A socket without an address is already closed.
  const socketProblem = (target: Target, { remoteAddress }: Socket): string | undefined =>
    remoteAddress === undefined ? undefined : problem(target, remoteAddress);

  const keep = (socket: Socket, target: Target): void => {
    open.set(socket, target);
    socket.once('close', () => open.delete(socket));
  };

  const connect: buildConnector.connector = (options, done) => {
    const name = options.hostname.replace(/^\[|\]$/g, '');
    const target = { name, port: Number(options.port || (options.protocol === 'https:' ? 443 : 80)) };
    // If the host is an IP address, no lookup takes place, so the address is checked here.
    const literal = isIP(name) === 0 ? undefined : problem(target, name);
    if (literal !== undefined) return done(new EgressRefused(name, literal), null);
    const guarded = guardedLookup(lookup, (address) => problem(target, address));
    dial({ lookup: guarded, allowH2: false })(options, (...[error, socket]) => {
      if (error !== null) return done(error, null);
      // The rules may have changed while the connection was being made.
      const why = socketProblem(target, socket);
      if (why !== undefined) {
        socket.destroy();
        return done(new EgressRefused(name, why), null);
      }
      keep(socket, target);
      done(null, socket);
    });
  };

  return {
    connect(target, signal) {
      const literal = isIP(target.name) === 0 ? undefined : problem(target, target.name);
      if (literal !== undefined) return Promise.reject(new EgressRefused(target.name, literal));
      const guarded = guardedLookup(lookup, (address) => problem(target, address));
      return new Promise((resolve, reject) => {
        const socket = netConnect({ host: target.name, port: target.port, lookup: guarded });
        const stop = (): void => void socket.destroy(signal?.reason as Error);
        signal?.addEventListener('abort', stop, { once: true });
        socket.once('close', () => signal?.removeEventListener('abort', stop));
        socket.once('error', reject);
        socket.once('connect', () => {
          socket.off('error', reject);
          const why = socketProblem(target, socket);
          if (why !== undefined) {
            socket.destroy();
            return reject(new EgressRefused(target.name, why));
          }
          keep(socket, target);
          resolve(socket);
        });
        if (signal?.aborted === true) stop();
      });
    },
    // No timeouts: a response may be a stream that is silent for an hour. Its reader decides by its signal when to give
    // up.
    dispatcher: new Agent({ connect, headersTimeout: 0, bodyTimeout: 0, allowH2: false }),
    dropClosed() {
      // This is not EgressRefused, because a request that was under way may have arrived.
      for (const [socket, target] of open)
        if (socketProblem(target, socket) !== undefined)
          socket.destroy(new Error(`The connection to ${target.name} was closed: it is no longer allowed.`));
    },
  };
}

/** A lookup that fails if any address of the name is forbidden, because it is not known which one will be used. */
function guardedLookup(lookup: LookupFunction, problem: (address: string) => string | undefined): LookupFunction {
  return (name, options, done) =>
    lookup(name, { ...options, all: true }, (error, found) => {
      if (error !== null) return done(error, '');
      const addresses = found as LookupAddress[];
      const why = addresses.length === 0 ? 'it has no address' : firstProblem(addresses, problem);
      if (why !== undefined) return done(new EgressRefused(name, why), '');
      if (options.all === true) return done(null, addresses);
      const [first] = addresses;
      done(null, first?.address ?? '', first?.family);
    });
}

function firstProblem(
  addresses: readonly LookupAddress[],
  problem: (address: string) => string | undefined,
): string | undefined {
  for (const { address } of addresses) {
    const why = problem(address);
    if (why !== undefined) return `its address ${address} is ${why}`;
  }
  return undefined;
}

/**
 * Cloud services that can be reached only from machines inside the cloud, although their addresses look public: Azure's
 * metadata and IBM Cloud's internal networks.
 */
const CLOUD_INTERNAL = ['168.63.129.16/32', '161.26.0.0/16', '166.8.0.0/14'].map((text) => ipaddr.IPv4.parseCIDR(text));

/** Returns why connections to the address are refused, or undefined for a public internet address. */
function forbiddenAddress(address: string): string | undefined {
  // `fe80::1%eth0` names an interface of this machine.
  if (address.includes('%') || !ipaddr.isValid(address)) return 'not a plain address';
  // `process` turns ::ffff:a.b.c.d into a.b.c.d.
  const ip = ipaddr.process(address);
  const range = ip.range();
  if (range !== 'unicast') return range;
  if (ip instanceof ipaddr.IPv4) return CLOUD_INTERNAL.some((internal) => ip.match(internal)) ? 'metadata' : undefined;
  // Only 2000::/3 is allocated for the internet. Without this check, ::7f00:1 (127.0.0.1) would count as unicast.
  return ((ip.parts[0] ?? 0) & 0xe000) === 0x2000 ? undefined : 'not global';
}
