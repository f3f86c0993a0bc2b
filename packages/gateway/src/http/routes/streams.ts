import { z } from 'zod';
import { ApiError } from '../../api-error.ts';
import type { StreamEvent } from '../../bus/bus.ts';
import { invalid } from '../../entities/invalid.ts';
import { getRun } from '../../runs/run.ts';
import type { Services } from '../../services.ts';
import type { Tx } from '../../store/store.ts';
import { runChannel, spaceChannel } from '../../streams/emit.ts';
import { eventSource } from '../../streams/event-source.ts';
import type { OpenStreams } from '../../streams/open-streams.ts';
import { readStream } from '../../streams/read-stream.ts';
import { type Caller, isStillValid } from '../authenticate.ts';
import { type Endpoint, type Exchange, endpoint } from '../endpoint.ts';
import { numberInQuery } from '../fields.ts';
import { assertMaySee } from './spaces.ts';

export interface StreamOptions {
  readonly services: Services;
  readonly streams: OpenStreams;
  readonly heartbeatMs: number;
}

/** A channel that somebody may hear. */
interface Opened {
  readonly channel: string;
  readonly lastEventId: number | undefined;
  /** Throws an ApiError once they may not any more. */
  readonly assertAllowed: (tx: Pick<Tx, 'db'>) => Promise<void>;
}

const lastEventId = numberInQuery({ min: 0, max: Number.MAX_SAFE_INTEGER })
  .optional()
  .meta({ description: 'For clients that cannot set the header Last-Event-ID.' });
const token = z.string().optional().meta({ description: 'An entity token, for clients that cannot set headers.' });

export function streamEndpoints(options: StreamOptions): readonly Endpoint[] {
  const respond = (opened: Opened, exchange: Exchange): Promise<Response> => openStream(opened, exchange, options);
  return [
    endpoint({
      method: 'get',
      path: '/api/spaces/{id}/stream',
      summary: 'What happens in a space, as it happens.',
      access: 'entity',
      query: z.strictObject({ lastEventId, token }),
      answer: 'text/event-stream',
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
      summary: 'What happens in a run, as it happens, with the calls that no space shows.',
      access: 'key',
      query: z.strictObject({ lastEventId }),
      answer: 'text/event-stream',
      refusals: [429],
      async handle({ params: { id }, query }, tx): Promise<Opened> {
        await getRun(tx.db, id);
        return { channel: runChannel(id), lastEventId: query.lastEventId, assertAllowed: async () => {} };
      },
      respond,
    }),
  ];
}

async function openStream(
  { channel, lastEventId, assertAllowed }: Opened,
  { request, caller, disconnect }: Exchange,
  { services, streams, heartbeatMs }: StreamOptions,
): Promise<Response> {
  const after = headerEventId(request) ?? lastEventId;
  const reader = await readStream(services, { channel, ...(after === undefined ? {} : { after }) });
  try {
    // Again, now that the channel is open: who left in between would not see that they did.
    await assertAllowed(services.store);
    const body = eventSource({
      reader,
      streams,
      logger: services.logger,
      heartbeatMs,
      stallMs: services.limits.streamStallMs,
      isAllowed: async () =>
        (await isStillValid(services.store.db, caller)) && (await passes(assertAllowed(services.store))),
      concerns: (event) => concerns(event, caller),
      ...(caller.kind === 'entity' ? { expiresAt: caller.expiresAt } : {}),
      ...(disconnect === undefined ? {} : { disconnect }),
    });
    return new Response(body, { headers: HEADERS });
  } catch (error) {
    reader.close();
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

async function passes(check: Promise<void>): Promise<boolean> {
  try {
    await check;
    return true;
  } catch (error) {
    if (error instanceof ApiError) return false;
    throw error;
  }
}

function concerns({ type, payload }: StreamEvent, caller: Caller): boolean {
  return (
    type === 'member.left' &&
    caller.kind === 'entity' &&
    (payload as { readonly entityId?: unknown }).entityId === caller.entityId
  );
}

const HEADERS = {
  'content-type': 'text/event-stream',
  'cache-control': 'no-cache, no-store, no-transform',
  // Proxies that collect answers before they pass them on would make a stream of nothing.
  'x-accel-buffering': 'no',
};
