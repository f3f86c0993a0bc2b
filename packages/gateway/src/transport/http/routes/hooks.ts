import type { Answer } from '@lastcall/core';
import { z } from 'zod';
import type { ApiError } from '../../../domain/api-error.ts';
import { deliveryOf, type HookBody } from '../../../domain/hooks/delivery.ts';
import type { Hook, Hooks } from '../../../domain/hooks/hook.ts';
import { assertSignatureHeaders, assertSigned } from '../../../domain/hooks/hook-signature.ts';
import { noHook, receiveAnswer, receiveEvent } from '../../../domain/hooks/receive-delivery.ts';
import { type AuditedChange, type Endpoint, endpoint } from '../endpoint.ts';
import { idField } from '../fields.ts';
import { parseBody } from '../read-body.ts';
import { statusOf } from '../statuses.ts';
import { validate } from '../validate.ts';

const bodySchema: z.ZodType<HookBody> = z
  .record(z.string(), z.unknown())
  .meta({ description: 'What the service sends. Its signature is checked over the bytes.' });

const claimToken = z.string().max(200).optional();
const present = z.unknown().refine((value) => value !== undefined, { error: 'is missing.', abort: true });

const answerSchema = z.union(
  [
    z.strictObject({ callId: idField, runId: idField, result: present, claimToken }),
    z.strictObject({ callId: idField, runId: idField, error: z.string(), claimToken }),
  ],
  {
    error:
      'must be { callId, runId, result } or { callId, runId, error }, with claimToken if a worker has claimed the call.',
  },
);

const receivedSchema = z.union([
  z.strictObject({
    ok: z.literal(true),
    duplicate: z.boolean().meta({ description: 'True if it was received before. Nothing was done again.' }),
  }),
  z.strictObject({ challenge: z.string() }).meta({ description: "The answer to Slack's `url_verification`." }),
]);

type Received =
  | { readonly duplicate: boolean; readonly agentId?: string; readonly callId?: string }
  | { readonly challenge: string }
  /** A late answer is stored, and refused only after that is durable. */
  | { readonly late: ApiError; readonly callId: string };

/** Services send events here, without a key: their signature is their right. */
export function hookEndpoints(hooks: Hooks): readonly Endpoint[] {
  const find = (name: string): Hook => {
    const hook = hooks.get(name);
    if (hook === undefined) throw noHook(name.slice(0, 100));
    return hook;
  };
  return [
    endpoint({
      method: 'post',
      path: '/hooks/{name}',
      summary: 'Send a signed event to the agent of a hook',
      description:
        'For the services that `hooks` of the configuration names. An event that is sent again is answered, and not stored again.',
      access: 'anyone',
      body: bodySchema,
      answer: receivedSchema,
      refusals: [401, 409, 410],
      signed: {
        admit: ({ params, headers }) => assertSignatureHeaders(find(params.name ?? '').verify, headers),
        async open({ params, headers }, bytes) {
          const { verify, secrets } = find(params.name ?? '');
          await assertSigned(verify, { headers, body: bytes, secrets, now: Date.now() });
          // A service cannot be told to send other numbers: it would send the event again, and then give it up.
          const parsed = parseBody(bytes, headers.get('content-type'), { hasLargeNumbers: true });
          const body = validate(bodySchema, parsed);
          return deliveryOf(verify, { headers, bytes, body });
        },
      },
      audit: auditHook,
      async handle({ params, opened }, tx): Promise<Received> {
        const hook = find(params.name);
        const delivery = opened as ReturnType<typeof deliveryOf>;
        if (delivery.kind === 'challenge') return { challenge: delivery.challenge };
        if (delivery.kind === 'ping') return { duplicate: false };
        if (hook.answers === undefined) return await receiveEvent(tx, hook, delivery);
        const { callId, runId, claimToken, ...answer } = validate(answerSchema, delivery.data);
        const end = await receiveAnswer(tx, hook, { callId, runId, claimToken, answer: answer as Answer });
        return end.status === 'late' ? { late: end.error, callId } : { duplicate: end.status === 'duplicate', callId };
      },
      respond(received, { json }) {
        if ('late' in received) throw received.late;
        return json('challenge' in received ? received : { ok: true, duplicate: received.duplicate });
      },
    }),
  ];
}

/** A test of the connection and a repetition change nothing. */
function auditHook(received: Received): AuditedChange | undefined {
  if ('late' in received) return { subject: { kind: 'call', id: received.callId }, status: statusOf(received.late) };
  if ('challenge' in received || received.duplicate) return undefined;
  const { agentId, callId } = received;
  if (callId !== undefined) return { subject: { kind: 'call', id: callId } };
  return agentId === undefined ? undefined : { subject: { kind: 'agent', id: agentId } };
}
