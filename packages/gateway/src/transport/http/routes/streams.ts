import { z } from 'zod';
import { getAgent } from '../../../domain/agents/agent.ts';
import { listOpenJobs } from '../../../domain/calls/list-open-jobs.ts';
import { getRun } from '../../../domain/runs/run.ts';
import { encodeUnnumbered } from '../../../domain/streams/encode-event.ts';
import { jobsStream, runStream, spaceStream } from '../../../domain/streams/stream-names.ts';
import { type Endpoint, type Exchange, endpoint } from '../endpoint.ts';
import { idField, numberInQuery } from '../fields.ts';
import { type OpenedStream, openStream, type StreamOptions } from '../open-stream.ts';
import { jobEventSchema } from '../schemas/job-event.ts';
import { runEventSchema } from '../schemas/run-event.ts';
import { spaceEventSchema } from '../schemas/space-event.ts';
import { assertMaySee } from './spaces.ts';

const lastEventId = numberInQuery({ min: 0, max: Number.MAX_SAFE_INTEGER })
  .optional()
  .meta({ description: 'Resumes after this event, for clients that cannot set the `Last-Event-ID` header.' });
const token = z.string().optional().meta({ description: 'An entity token, for clients that cannot set headers.' });

export function streamEndpoints(options: StreamOptions): readonly Endpoint[] {
  const respond = (opened: OpenedStream, exchange: Exchange): Promise<Response> =>
    openStream(opened, exchange, options);
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
      async handle({ caller, params: { id }, query }, tx): Promise<OpenedStream> {
        const assertAllowed: OpenedStream['assertAllowed'] = (tx) => assertMaySee(tx, id, caller);
        await assertAllowed(tx);
        return { stream: spaceStream(id), lastEventId: query.lastEventId, assertAllowed };
      },
      respond,
    }),
    // A run includes calls of tools that no space may see.
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
      async handle({ params: { id }, query }, tx): Promise<OpenedStream> {
        await getRun(tx.db, id);
        return { stream: runStream(id), lastEventId: query.lastEventId, assertAllowed: async () => {} };
      },
      respond,
    }),
    endpoint({
      method: 'get',
      path: '/api/jobs/stream',
      summary: "Stream the jobs of an agent's external tools",
      description: 'Server-sent events. Without an event id, the stream begins with the waiting jobs.',
      access: 'key',
      query: z.strictObject({ agentId: idField, lastEventId }),
      answer: 'text/event-stream',
      events: jobEventSchema,
      refusals: [429],
      async handle({ query: { agentId, lastEventId } }, tx): Promise<OpenedStream> {
        await getAgent(tx.db, agentId);
        const assertAllowed = async (): Promise<void> => {};
        return { stream: jobsStream(agentId), lastEventId, assertAllowed, firstEvents: () => openJobs(agentId) };
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
