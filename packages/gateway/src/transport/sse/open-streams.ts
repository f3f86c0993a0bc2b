import type { GatewayLimits } from '../../config/limits.ts';
import { ApiError } from '../../domain/api-error.ts';
import type { Metrics, StreamEnd } from '../../telemetry/metrics.ts';
import { type Holder, type Place, Places, type Share } from '../places.ts';

/** The open streams of one gateway and its waiting requests, with a common limit. Streams end when the gateway stops. */
export interface OpenStreams {
  /**
   * Takes a place, or throws like `enter`. A request that stores something and responds later reserves its place first, so that a
   * refusal means that nothing was done.
   */
  reserve(holder: Holder): Place;
  /** Takes a place, or throws 429. `end` is called when the gateway stops; the returned function releases the place. */
  enter(holder: Holder, end: () => void): (why: StreamEnd) => void;
  readonly count: number;
  /** Ends all streams, and every later one at once. */
  stop(): void;
}

type StreamLimits = Pick<GatewayLimits, 'connections' | 'connectionsPerCaller' | 'connectionsPerAddress'>;

export function createOpenStreams(limits: StreamLimits, metrics: Metrics): OpenStreams {
  const open = new Map<() => void, Place>();
  const places = connectionPlaces(limits);
  let stopped = false;
  const reserve = (holder: Holder): Place => {
    if (stopped) throw new ApiError('stopping', 'The gateway is stopping. Connect again later.', { retryAfter: 1 });
    return places.take(holder);
  };
  return {
    reserve,
    enter(holder, end) {
      open.set(end, reserve(holder));
      metrics.streamOpened();
      return (why) => {
        open.get(end)?.release();
        if (open.delete(end)) metrics.streamClosed(why);
      };
    },
    get count() {
      return open.size;
    },
    stop() {
      stopped = true;
      for (const end of [...open.keys()]) end();
    },
  };
}

function connectionPlaces({ connections, connectionsPerCaller, connectionsPerAddress }: StreamLimits): Places {
  const limits = { gateway: connections, caller: connectionsPerCaller, address: connectionsPerAddress };
  return new Places({ limits, refuse: tooMany });
}

function tooMany(share: Share, limit: number): ApiError {
  return new ApiError('too_many_streams', TEXTS[share](limit), { retryAfter: 5, details: { share, limit } });
}

const END = 'Nothing was started. Close some, or try again later.';

const TEXTS = {
  gateway: (limit: number) =>
    `This gateway has reached its limit of ${limit} open streams and waiting requests. Nothing was started. Try again later, or raise limits.connections.`,
  caller: (limit: number) =>
    `One caller may have ${limit} open streams and waiting requests (limits.connectionsPerCaller), and you have reached that limit. ${END}`,
  address: (limit: number) =>
    `One address may have ${limit} open streams and waiting requests (limits.connectionsPerAddress), and yours has reached that limit. ${END}`,
};
