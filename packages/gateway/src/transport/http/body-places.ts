import type { GatewayLimits } from '../../config/limits.ts';
import { ApiError } from '../../domain/api-error.ts';
import { type Holder, type Place, Places, type Share } from '../places.ts';

type BodyLimits = Pick<GatewayLimits, 'bodyBytes' | 'bodies' | 'bodiesPerCaller' | 'bodiesPerAddress'>;

/**
 * Limits how many bodies are read at once. Callers without a key are counted separately, so that they cannot use up the places of
 * the others.
 */
export interface BodyPlaces {
  /** Throws 429. A body that is larger than `limits.bodyBytes` takes the places of several. */
  take(holder: Holder, bytes?: number): Place;
}

export function createBodyPlaces(bodyLimits: BodyLimits): BodyPlaces {
  const { bodyBytes, bodies, bodiesPerCaller, bodiesPerAddress } = bodyLimits;
  const limits = { gateway: bodies, caller: bodiesPerCaller, address: bodiesPerAddress };
  const known = new Places({ limits, refuse: tooMany });
  // Only the address of such callers is known, so each address gets the share of one caller.
  const unknown = new Places({ limits: { ...limits, address: bodiesPerCaller }, refuse: tooMany });
  return {
    take: (holder, bytes = 0) =>
      (holder.caller.kind === 'anonymous' ? unknown : known).take(holder, Math.max(Math.ceil(bytes / bodyBytes), 1)),
  };
}

function tooMany(share: Share, limit: number): ApiError {
  return new ApiError('too_many_bodies', TEXTS[share](limit), { retryAfter: 1, details: { share, limit } });
}

const END = 'The request was not read. Try again when earlier ones have been sent.';

const TEXTS = {
  gateway: (limit: number) =>
    `This gateway is already reading its limit of ${limit} bodies at once (limits.bodies). ${END}`,
  caller: (limit: number) =>
    `One caller may send ${limit} bodies at once (limits.bodiesPerCaller), and you have reached that limit. ${END}`,
  address: (limit: number) =>
    `One address may send ${limit} bodies at once (limits.bodiesPerAddress, or limits.bodiesPerCaller without a key), and yours has reached that limit. ${END}`,
};
