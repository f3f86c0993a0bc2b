import { z } from 'zod';
import { getAgent } from '../../../domain/agents/agent.ts';
import { invalid } from '../../../domain/entities/invalid.ts';
import { listOpenJobs } from '../../../domain/jobs/list-open-jobs.ts';
import { getRun } from '../../../domain/runs/run.ts';
import { jobsChannel, runChannel, spaceChannel } from '../../../domain/streams/emit.ts';
import { encodeUnnumbered } from '../../../domain/streams/encode-event.ts';
import { readStream, type StreamReader } from '../../../domain/streams/read-stream.ts';
import type { Revocations } from '../../../domain/streams/revocations.ts';
import type { Services } from '../../../ports/services.ts';
import type { Tx } from '../../../ports/store/store.ts';
import { eventSource } from '../../sse/event-source.ts';
import type { OpenStreams } from '../../sse/open-streams.ts';
import { openStreamAccess } from '../../sse/stream-access.ts';
import { assertStillValid } from '../authenticate.ts';
import { type Endpoint, type Exchange, endpoint } from '../endpoint.ts';
import { idField, numberInQuery } from '../fields.ts';
import { jobEventSchema } from '../schemas/job-event.ts';
import { runEventSchema } from '../schemas/run-event.ts';
import { spaceEventSchema } from '../schemas/space-event.ts';
import { assertMaySee } from './spaces.ts';

export interface StreamOptions {
  readonly services: Services;
  readonly streams: OpenStreams;
  readonly revocations: Revocations;
  readonly heartbeatMs: number;
}

/** A channel that somebody may hear. */
interface Opened {
  readonly channel: string;
  readonly lastEventId: number | undefined;
  /** Throws an ApiError once they may not any more. */
  readonly assertAllowed: (tx: Pick<Tx, 'db'>) => Promise<void>;
  /** What somebody who comes without an event id is told first. */
  readonly firstEvents?: () => Promise<Uint8Array | undefined>;
}

const lastEventId = numberInQuery({ min: 0, max: Number.MAX_SAFE_INTEGER })
  .optional()
  .meta({ description: 'Resumes after this event, for clients that cannot set the `Last-Event-ID` header.' });
const token = z.string().optional().meta({ description: 'An entity token, for clients that cannot set headers.' });

export function streamEndpoints(options: StreamOptions): readonly Endpoint[] {
  const respond = (opened: Opened, exchange: Exchange): Promise<Response> => openStream(opened, exchange, options);
  return [
    endpoint({
      method: 'get',
      path: '/api/spaces/{id}/stream',
      summary: 'Stream the events of a space',
      description: 'Server-sent events.',
      access: 'entity',
      query: z.strictObject({ lastEventId, token }),
      answer: 'text/event-stream',
      events: spaceEventSchema,
      refusals: [429],
      async handle({ caller, params: { id }, query }, tx): Promise<Opened> {
        const assertAllowed: Opened['assertAllowed'] = (tx) => assertMaySee(tx, id, caller);
        await assertAllowed(tx);
        return { channel: spaceChannel(id), lastEventId: query.lastEventId, assertAllowed };
      },
      respond,
    }),
    // The calls of a run include those of tools that no space may know of.
    endpoint({
      method: 'get',
      path: '/api/runs/{id}/stream',
      summary: 'Stream the events of a run',
      description: 'Server-sent events, including those of calls that no space shows.',
      access: 'key',
      query: z.strictObject({ lastEventId }),
      answer: 'text/event-stream',
      events: runEventSchema,
      refusals: [429],
      async handle({ params: { id }, query }, tx): Promise<Opened> {
        await getRun(tx.db, id);
        return { channel: runChannel(id), lastEventId: query.lastEventId, assertAllowed: async () => {} };
      },
      respond,
    }),
    endpoint({
      method: 'get',
      path: '/api/jobs/stream',
      summary: "Stream the jobs of an agent's external tools",
      description: 'Server-sent events. Without an event id, the stream begins with the jobs that wait.',
      access: 'key',
      query: z.strictObject({ agentId: idField, lastEventId }),
      answer: 'text/event-stream',
      events: jobEventSchema,
      refusals: [429],
      async handle({ query: { agentId, lastEventId } }, tx): Promise<Opened> {
        await getAgent(tx.db, agentId);
        const assertAllowed = async (): Promise<void> => {};
        return { channel: jobsChannel(agentId), lastEventId, assertAllowed, firstEvents: () => openJobs(agentId) };
      },
      respond,
    }),
  ];

  async function openJobs(agentId: string): Promise<Uint8Array | undefined> {
    const jobs = await options.services.store.transaction((tx) => listOpenJobs(tx.db, agentId, tx.now()));
    return jobs.length === 0
      ? undefined
      : encodeUnnumbered(jobs.map((payload) => ({ type: 'job.available', payload })));
  }
}

async function openStream(
  { channel, lastEventId, assertAllowed, firstEvents }: Opened,
  { request, caller, disconnect }: Exchange,
  { services, streams, revocations, heartbeatMs }: StreamOptions,
): Promise<Response> {
  const { store } = services;
  const after = headerEventId(request) ?? lastEventId;
  const access = await openStreamAccess({ store, revocations, caller, assertAllowed });
  let reader: StreamReader | undefined;
  try {
    reader = await readStream(services, { channel, ...(after === undefined ? {} : { after }) });
    // Again, now that the channel is open and revocations are heard: what ended in between would not be seen to end.
    await assertStillValid(store.db, caller);
    await assertAllowed(store);
    // After the channel was opened: what is offered in between comes twice, and nothing is missed.
    const greeting = after === undefined ? await firstEvents?.() : undefined;
    const body = eventSource({
      reader,
      streams,
      logger: services.logger,
      heartbeatMs,
      stallMs: services.limits.streamStallMs,
      access,
      ...(greeting === undefined ? {} : { greeting }),
      ...(disconnect === undefined ? {} : { disconnect }),
    });
    return new Response(body, { headers: { ...HEADERS, 'last-event-id': String(reader.position) } });
  } catch (error) {
    reader?.close();
    access.close();
    throw error;
  }
}

/** The header outranks the query: a client that comes back sends the URL as it was, and the header as it is. */
function headerEventId(request: Request): number | undefined {
  const header = request.headers.get('last-event-id');
  if (header === null) return undefined;
  if (!/^\d{1,15}$/.test(header)) throw invalid('Last-Event-ID', 'must be the id of an event of this stream.');
  return Number(header);
}

const HEADERS = {
  'content-type': 'text/event-stream',
  'cache-control': 'no-cache, no-store, no-transform',
  // Proxies that collect answers before they pass them on would make a stream of nothing.
  'x-accel-buffering': 'no',
};
