import type { Logger } from '@lastcall/core';
import { DEFAULT_GATEWAY_LIMITS, type GatewayLimits } from '../../src/config/limits.ts';
import { expireDue } from '../../src/domain/calls/expire-due.ts';
import { offerLapsed } from '../../src/domain/calls/offer-lapsed.ts';
import { fireDuePlans } from '../../src/domain/plans/fire-due-plans.ts';
import type { Services } from '../../src/ports/services.ts';
import type { StoreParts } from '../../src/ports/store/store-parts.ts';
import { Scheduler } from '../../src/runtime/scheduler.ts';
import type { Registry } from '../../src/runtime/toolset/registry.ts';
import { Worker } from '../../src/runtime/worker.ts';
import type { Hub } from './hub.ts';
import type { WorldDatabase } from './memory-database.ts';
import { openRemoteStore } from './remote-store.ts';
import type { Surroundings } from './surroundings.ts';
import { createProcess, inProcess, type SimProcess } from './virtual-time.ts';

/** One gateway without sockets: its worker, its scheduler and its services, as `gateway.ts` puts them together. */
export interface SimGateway {
  readonly process: SimProcess;
  readonly services: Services;
  readonly registry: Registry;
}

export const LIMITS: GatewayLimits = {
  ...DEFAULT_GATEWAY_LIMITS,
  leaseMs: 10_000,
  // An agent's message wakes no other agent: that would only add runs in which there is nothing to do.
  hopLimit: 0,
  // A small buffer, so that a client that reads slowly falls behind it.
  streamBacklog: 3,
};

interface GatewayParts {
  readonly name: string;
  readonly limits: GatewayLimits;
  readonly database: WorldDatabase;
  readonly hub: Hub;
  readonly registry: Registry;
}

export function startGateway(world: Surroundings, { name, limits, database, hub, registry }: GatewayParts): SimGateway {
  const process = createProcess(name);
  return inProcess(process, () => {
    const bus = hub.join(process);
    const scheduler = new Scheduler({ slots: limits.runs });
    const parts: StoreParts = { bus, limits, scheduler: losingWakes(world, process, scheduler) };
    const store = openRemoteStore(world, { process, database, parts });
    const services: Services = { store, bus, limits, logger: loggerOf(world, process), prices: {} };
    const worker = new Worker(services, registry, scheduler);
    const sweeps = [fireDuePlans, expireDue, offerLapsed].map((sweep) => () => sweep(services));
    world.log(`${name} starts`);
    void worker.start({ sweeps });
    return { process, services, registry };
  });
}

function losingWakes(world: Surroundings, process: SimProcess, scheduler: Scheduler): StoreParts['scheduler'] {
  return {
    enqueue(threadId, options) {
      if (world.faults.at(`wake in ${process.name}`, { 'lose-wake': 0.03 }) !== undefined) return;
      scheduler.enqueue(threadId, options);
    },
  };
}

function loggerOf({ log }: Surroundings, { name }: SimProcess): Logger {
  const at =
    (level: string) =>
    (message: string, details?: unknown): void => {
      const why = details instanceof Error ? ` (${details.name}: ${details.message})` : '';
      log(`${name} ${level}: ${message}${why}`);
    };
  return { debug: () => {}, info: () => {}, warn: at('warn'), error: at('error') };
}
