import type { GatewayLimits } from '../../config/limits.ts';
import { ApiError } from '../../domain/api-error.ts';
import type { Metrics, StreamEnd } from '../../telemetry/metrics.ts';

/** Room for one stream, or for one request that waits for a run. */
export interface Place {
  /** Gives it back. A second time changes nothing. */
  release(): void;
}

/** The streams that one gateway has open, and the requests that wait: bounded together. Streams end when the gateway stops. */
export interface OpenStreams {
  /** Takes a place, or throws as `enter` would. Whoever stores something and then answers late asks before: a refusal must be true. */
  reserve(): Place;
  /** Takes a place, or throws 429. `end` is called when the gateway stops; the place is given back with `leave`. */
  enter(end: () => void): (why: StreamEnd) => void;
  readonly count: number;
  /** Ends all of them, and every later one at once. */
  stop(): void;
}

export function createOpenStreams(limits: Pick<GatewayLimits, 'connections'>, metrics: Metrics): OpenStreams {
  const open = new Set<() => void>();
  let stopped = false;
  const reserved = new Set<Place>();
  const assertRoom = (): void => {
    if (stopped) throw new ApiError(503, 'stopping', 'The gateway is stopping. Connect again.', { retryAfter: 1 });
    if (open.size + reserved.size >= limits.connections) throw tooMany(limits.connections);
  };
  return {
    reserve() {
      assertRoom();
      const place: Place = { release: () => void reserved.delete(place) };
      reserved.add(place);
      return place;
    },
    enter(end) {
      assertRoom();
      open.add(end);
      metrics.streamOpened();
      return (why) => {
        if (open.delete(end)) metrics.streamClosed(why);
      };
    },
    get count() {
      return open.size;
    },
    stop() {
      stopped = true;
      for (const end of [...open]) end();
    },
  };
}

function tooMany(most: number): ApiError {
  return new ApiError(
    429,
    'too_many_streams',
    `This gateway has reached its limit of ${most} open streams and waiting requests. Nothing was started. Try again later.`,
    {
      retryAfter: 5,
    },
  );
}
