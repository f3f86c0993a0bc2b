import { DEFAULT_GATEWAY_LIMITS, type GatewayLimits } from '../../config/limits.ts';
import type { Bus } from '../bus/bus.ts';
import type { WakeOptions } from './store.ts';

/** The parts of the gateway that transactions use. A store gets them when it is opened. */
export interface StoreParts {
  /** Publishes the events of `Tx.emit`. */
  readonly bus: Pick<Bus, 'publish'>;
  /** Wakes the threads of `Tx.wake`. */
  readonly scheduler: { enqueue(threadId: string, options?: WakeOptions): void };
  readonly limits: GatewayLimits;
}

/** For a store without a gateway: events are stored and not published, no thread is woken, and limits are the defaults. */
export const DEFAULT_PARTS: StoreParts = {
  bus: { publish() {} },
  scheduler: { enqueue() {} },
  limits: DEFAULT_GATEWAY_LIMITS,
};
