import type { GatewayLimits } from '../../config/limits.ts';
import { ApiError } from '../../domain/api-error.ts';
import { type Holder, type Place, Places, type Share } from '../places.ts';

type BodyLimits = Pick<GatewayLimits, 'bodies' | 'bodiesPerCaller' | 'bodiesPerAddress'>;

/** Places for bodies that are being read. Those of callers without a key are counted apart: they cannot take the places of the others. */
export interface BodyPlaces {
  /** Throws 429. */
  take(holder: Holder): Place;
}

export function createBodyPlaces({ bodies, bodiesPerCaller, bodiesPerAddress }: BodyLimits): BodyPlaces {
  const limits = { gateway: bodies, caller: bodiesPerCaller, address: bodiesPerAddress };
  const known = new Places({ limits, refuse: tooMany });
  // The address is all that is known of them, so it gets what a caller gets.
  const unknown = new Places({ limits: { ...limits, address: bodiesPerCaller }, refuse: tooMany });
  return { take: (holder) => (holder.caller.kind === 'nobody' ? unknown : known).take(holder) };
}

function tooMany(share: Share, limit: number): ApiError {
  return new ApiError(429, 'too_many_bodies', TEXTS[share](limit), { retryAfter: 1, details: { share, limit } });
}

const END = 'The request was not read. Try again when others have been sent.';

const TEXTS = {
  gateway: (limit: number) => `This gateway reads ${limit} bodies at once (limits.bodies), and does so now. ${END}`,
  caller: (limit: number) =>
    `One caller may send ${limit} bodies at once (limits.bodiesPerCaller), and you are sending as many. ${END}`,
  address: (limit: number) =>
    `One address may send ${limit} bodies at once (limits.bodiesPerAddress, or limits.bodiesPerCaller without a key), and yours is sending as many. ${END}`,
};
