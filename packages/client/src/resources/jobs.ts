import type { Connection, RequestOptions } from '../connection.ts';
import { followStream, type StreamOptions } from '../event-stream.ts';
import type { JobEvent, Operations } from '../wire.generated.ts';

type Ops = Operations;

/** The work of external tools. Answer a claimed job with `pending.answer` and its `claimToken`. */
export interface Jobs {
  /** The jobs of an agent: those that wait first, then each event once, in order. */
  stream(agentId: string, options?: StreamOptions): AsyncIterable<JobEvent>;
  claim(
    callId: string,
    claim: Ops['POST /api/jobs/{callId}/claim']['body'],
    options?: RequestOptions,
  ): Promise<Ops['POST /api/jobs/{callId}/claim']['answer']>;
  heartbeat(
    callId: string,
    beat: Ops['POST /api/jobs/{callId}/heartbeat']['body'],
    options?: RequestOptions,
  ): Promise<Ops['POST /api/jobs/{callId}/heartbeat']['answer']>;
}

export function jobs(connection: Connection): Jobs {
  const { call } = connection;
  return {
    stream: (agentId, options) =>
      followStream(connection, { path: `/api/jobs/stream?agentId=${encodeURIComponent(agentId)}` }, options),
    claim: (callId, body, options) => call('POST /api/jobs/{callId}/claim', { params: { callId }, body, ...options }),
    heartbeat: (callId, body, options) =>
      call('POST /api/jobs/{callId}/heartbeat', { params: { callId }, body, ...options }),
  };
}
