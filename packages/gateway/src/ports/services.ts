import type { Logger } from '@lastcall/core';
import type { GatewayLimits } from '../config/limits.ts';
import type { ModelPrices } from '../config/prices.ts';
import type { Bus } from './bus/bus.ts';
import type { Store } from './store/store.ts';

/** What the parts of one gateway share. */
export interface Services {
  readonly store: Store;
  readonly bus: Bus;
  readonly logger: Logger;
  readonly limits: GatewayLimits;
  /** Default: no prices are known. */
  readonly prices?: ModelPrices;
  /** The currency of the prices. Default: USD. */
  readonly currency?: string;
}
