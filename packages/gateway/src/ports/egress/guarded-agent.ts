import { type LookupAddress, lookup as systemLookup } from 'node:dns';
import { isIP, type LookupFunction, type Socket } from 'node:net';
import { Agent, buildConnector } from 'undici';
import { type EgressRule, isOpened } from '../../config/egress-rule.ts';
import { EgressRefused } from './egress-refused.ts';
import { forbiddenAddress } from './forbidden-address.ts';

/** A pool of connections, each of which was checked after its name was resolved. */
export interface GuardedAgent {
  readonly dispatcher: Agent;
  /** Closes the connections that the rules no longer allow, also while they are in use. */
  dropClosed(): void;
}

interface Target {
  readonly name: string;
  readonly port: number;
}

/**
 * Makes the pool. The addresses that are checked are those that are connected to: resolving a name once for the check
 * and again for the connection would let a DNS server change its answer in between.
 */
export function guardedAgent(
  rules: () => readonly EgressRule[],
  lookup: LookupFunction = systemLookup,
  dial: typeof buildConnector = buildConnector,
): GuardedAgent {
  const open = new Map<Socket, Target>();
  const problem = (target: Target, address: string): string | undefined =>
    isOpened(rules(), { ...target, address }) ? undefined : forbiddenAddress(address);
  // A socket without an address is closed already.
  const socketProblem = (target: Target, { remoteAddress }: Socket): string | undefined =>
    remoteAddress === undefined ? undefined : problem(target, remoteAddress);

  const connect: buildConnector.connector = (options, done) => {
    const name = options.hostname.replace(/^\[|\]$/g, '');
    const target = { name, port: Number(options.port || (options.protocol === 'https:' ? 443 : 80)) };
    // An address that is written out is connected to without any lookup.
    const literal = isIP(name) === 0 ? undefined : problem(target, name);
    if (literal !== undefined) return done(new EgressRefused(name, literal), null);
    const guarded = guardedLookup(lookup, (address) => problem(target, address));
    dial({ lookup: guarded, allowH2: false })(options, (...[error, socket]) => {
      if (error !== null) return done(error, null);
      // The rules may have changed while it connected.
      const why = socketProblem(target, socket);
      if (why !== undefined) {
        socket.destroy();
        return done(new EgressRefused(name, why), null);
      }
      open.set(socket, target);
      socket.once('close', () => open.delete(socket));
      done(null, socket);
    });
  };

  return {
    // A response may be a stream that rests for an hour: its reader decides when to give up, by its signal.
    dispatcher: new Agent({ connect, headersTimeout: 0, bodyTimeout: 0, allowH2: false }),
    dropClosed() {
      // Not EgressRefused: a request that was under way may have arrived.
      for (const [socket, target] of open)
        if (socketProblem(target, socket) !== undefined)
          socket.destroy(new Error(`The connection to ${target.name} was closed: it is no longer allowed.`));
    },
  };
}

/** A lookup that fails if any address of the name is forbidden: which one is used could not be foreseen. */
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
