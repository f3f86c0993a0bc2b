import { z } from 'zod';
import { ApiError } from '../../../domain/api-error.ts';
import type { Services } from '../../../ports/services.ts';
import { StoreUnavailable } from '../../../ports/store/store-error.ts';
import type { Metrics } from '../../../telemetry/metrics.ts';
import { type Endpoint, endpoint } from '../endpoint.ts';

export interface SystemOptions {
  readonly services: Services;
  readonly metrics: Metrics;
  readonly stopping: AbortSignal;
  readonly document: () => Promise<unknown>;
}

/** Endpoints for operators. None of them reveals stored data, so none of them needs credentials. */
export function systemEndpoints({ services, metrics, stopping, document }: SystemOptions): readonly Endpoint[] {
  return [
    endpoint({
      method: 'get',
      path: '/health',
      summary: 'Check that the process is up',
      description: 'It fails if only a new start can help: a write of the embedded database did not reach the disk.',
      access: 'anyone',
      answer: z.strictObject({ status: z.literal('ok') }),
      refusals: [503],
      respond() {
        if (services.store.isLost === true) throw new StoreUnavailable(undefined, { isLost: true });
        return Response.json({ status: 'ok' });
      },
    }),
    endpoint({
      method: 'get',
      path: '/ready',
      summary: 'Check that the gateway accepts requests',
      description: 'Its database answers, and it is not stopping.',
      access: 'anyone',
      answer: z.strictObject({ status: z.literal('ready') }),
      refusals: [503],
      async respond() {
        if (stopping.aborted) throw new ApiError('stopping', 'The gateway is stopping.', { retryAfter: 1 });
        await services.store.ping().catch((error: unknown) => {
          throw error instanceof StoreUnavailable ? error : new StoreUnavailable(error);
        });
        return Response.json({ status: 'ready' });
      },
    }),
    endpoint({
      method: 'get',
      path: '/metrics',
      summary: 'Get metrics for Prometheus',
      access: 'anyone',
      answer: 'text/plain',
      respond: async () => new Response(await metrics.render(), { headers: { 'content-type': metrics.contentType } }),
    }),
    endpoint({
      method: 'get',
      path: '/openapi.json',
      summary: 'Get this OpenAPI document',
      access: 'anyone',
      answer: z.record(z.string(), z.unknown()),
      respond: async () => Response.json(await document()),
    }),
  ];
}
