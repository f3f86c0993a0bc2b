import type { GatewayLimits } from '../../config/limits.ts';
import { type Holder, type Place, Places } from '../places.ts';

type BodyLimits = Pick<GatewayLimits, 'bodies' | 'bodiesPerCaller' | 'bodiesPerAddress'>;

/** Places for bodies that are being read. Those of callers without a key are counted apart: they cannot take the places of the others. */
export interface BodyPlaces {
  /** Throws 429. */
  take(holder: Holder): Place;
}

export function createBodyPlaces({ bodies, bodiesPerCaller, bodiesPerAddress }: BodyLimits): BodyPlaces {
  const refusal = { code: 'too_many_bodies', retryAfter: 1, texts: TEXTS };
  const known = new Places({
    limits: { gateway: bodies, caller: bodiesPerCaller, address: bodiesPerAddress },
    refusal,
  });
  // The address is all that is known of them, so it gets what a caller gets.
  const unknown = new Places({
    limits: { gateway: bodies, caller: bodiesPerCaller, address: bodiesPerCaller },
    refusal,
  });
  return { take: (holder) => (holder.caller.kind === 'nobody' ? unknown : known).take(holder) };
}

const END = 'The request was not read. Try again when others have been sent.';

const TEXTS = {
  gateway: (limit: number) => `This gateway reads ${limit} bodies at once (limits.bodies), and does so now. ${END}`,
  caller: (limit: number) =>
    `One caller may send ${limit} bodies at once (limits.bodiesPerCaller), and you are sending as many. ${END}`,
  address: (limit: number) =>
    `One address may send ${limit} bodies at once (limits.bodiesPerAddress, or limits.bodiesPerCaller without a key), and yours is sending as many. ${END}`,
};
