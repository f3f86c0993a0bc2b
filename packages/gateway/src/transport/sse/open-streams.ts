import type { GatewayLimits } from '../../config/limits.ts';
import { ApiError } from '../../domain/api-error.ts';
import type { Metrics, StreamEnd } from '../../telemetry/metrics.ts';

/** The streams that one gateway has open: counted, bounded, and ended together when it stops. */
export interface OpenStreams {
  /** Throws as `enter` would. Whoever stores something and then answers with a stream asks before: a refusal must be true. */
  assertRoom(): void;
  /** Takes a place, or throws 429. `end` is called when the gateway stops; the place is given back with `leave`. */
  enter(end: () => void): (why: StreamEnd) => void;
  readonly count: number;
  /** Ends all of them, and every later one at once. */
  stop(): void;
}

export function createOpenStreams(limits: Pick<GatewayLimits, 'connections'>, metrics: Metrics): OpenStreams {
  const open = new Set<() => void>();
  let stopped = false;
  const assertRoom = (): void => {
    if (stopped) throw new ApiError(503, 'stopping', 'The gateway is stopping. Connect again.', { retryAfter: 1 });
    if (open.size >= limits.connections) throw tooMany(limits.connections);
  };
  return {
    assertRoom,
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
    `This gateway has reached its limit of ${most} open streams. Try again later.`,
    {
      retryAfter: 5,
    },
  );
}
