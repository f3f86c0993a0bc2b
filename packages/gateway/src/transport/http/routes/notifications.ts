import { z } from 'zod';
import { NOTIFY_EVENTS } from '../../../config/notify-config.ts';
import { ApiError } from '../../../domain/api-error.ts';
import type { Attempts } from '../../../domain/keys/attempts.ts';
import { signToken } from '../../../domain/keys/tokens.ts';
import { type OpenedCard, openCardLink } from '../../../domain/notify/card-link.ts';
import {
  listNotifications,
  type Notification,
  retryNotification,
  testTarget,
} from '../../../domain/notify/notification.ts';
import type { OpenTargets } from '../../../domain/notify/notify-target.ts';
import { viewOf } from '../../caller.ts';
import { type AuditedChange, type Endpoint, endpoint } from '../endpoint.ts';
import { pageFields, pageOf } from '../fields.ts';
import { statusOf } from '../statuses.ts';

const STATUS = ['pending', 'sent', 'failed', 'obsolete'] as const;

const notificationSchema = z
  .strictObject({
    id: z.string().meta({ description: 'Sent along, so that receivers can drop repetitions.' }),
    project: z.string(),
    target: z.string(),
    event: z.enum([...NOTIFY_EVENTS, 'test']),
    agentId: z.string().optional(),
    runId: z.string().optional(),
    callId: z.string().optional(),
    entityId: z.string().optional().meta({ description: 'The person whom its link acts for.' }),
    status: z.enum(STATUS).meta({
      description: '`failed`: given up after the last attempt. `obsolete`: what it was about ended before it was sent.',
    }),
    attempts: z.int(),
    nextAt: z.int().optional().meta({ description: 'The next attempt, while it is pending.' }),
    error: z.string().optional().meta({ description: 'Why the last attempt failed.' }),
    createdAt: z.int(),
    sentAt: z.int().optional(),
    linkExpiresAt: z.int().optional(),
    linkUsedAt: z.int().optional(),
  })
  .meta({ id: 'Notification', description: 'A message to a target of the configuration. It has no texts.' });

const targetSchema = z
  .strictObject({
    name: z.string(),
    project: z.string(),
    channel: z.enum(['webhook', 'email', 'slack']),
    events: z.array(z.enum(NOTIFY_EVENTS)),
    agents: z.array(z.string()).optional(),
  })
  .meta({ id: 'NotificationTarget', description: 'A target of the configuration, without addresses and secrets.' });

interface NotificationOptions {
  readonly targets: OpenTargets;
  /** Signs links and tokens. */
  readonly secret: Uint8Array;
  /** Counts attempts with wrong codes. */
  readonly attempts: Attempts;
}

/** A person who opened a link has this long to answer. */
const CARD_SECONDS = 3_600;

export function notificationEndpoints({ targets, secret, attempts }: NotificationOptions): readonly Endpoint[] {
  return [
    endpoint({
      method: 'get',
      path: '/api/notifications',
      summary: 'List notifications, newest first',
      description: 'Whether they were sent, and why not. They are kept for `retention.notifications` days.',
      access: 'admin',
      query: z.strictObject({
        ...pageFields,
        status: z.enum(STATUS).optional(),
        target: z.string().min(1).max(64).optional(),
      }),
      answer: pageOf(notificationSchema),
      handle: ({ caller, query }, tx) => listNotifications(tx.db, { ...query, view: viewOf(caller) }),
    }),
    endpoint({
      method: 'get',
      path: '/api/notifications/targets',
      summary: 'List notification targets',
      description: 'The targets of the configuration file.',
      access: 'admin',
      answer: z.strictObject({ items: z.array(targetSchema) }),
      async handle({ caller }) {
        const { project } = viewOf(caller);
        const seen = [...targets.values()].filter((one) => project === undefined || one.project === project);
        const items = seen.map(({ name, project, events, agents, channel: { kind: channel } }) => ({
          ...{ name, project, channel, events },
          ...(agents === undefined ? {} : { agents }),
        }));
        return { items };
      },
    }),
    endpoint({
      method: 'post',
      path: '/api/notifications/targets/{name}/test',
      summary: 'Send a test notification',
      description: 'It is sent like any other: its status says whether it arrived.',
      access: 'admin',
      status: 201,
      answer: notificationSchema,
      refusals: [409],
      audit: auditNotification,
      handle: ({ caller, params }, tx) => testTarget(tx, targets, { name: params.name, view: viewOf(caller) }),
    }),
    endpoint({
      method: 'post',
      path: '/api/notifications/{id}/retry',
      summary: 'Send a failed notification again',
      access: 'admin',
      answer: notificationSchema,
      refusals: [409],
      audit: auditNotification,
      handle: ({ caller, params }, tx) => retryNotification(tx, targets, { id: params.id, view: viewOf(caller) }),
    }),
    endpoint({
      method: 'post',
      path: '/api/card-links',
      summary: 'Get a token with the link of a notification',
      description:
        'A link works once. The token can read and answer the one call that the link is for, as the person whom it was sent to, for an hour.',
      access: 'anyone',
      body: z.strictObject({ code: z.string().min(1).max(1_000) }),
      status: 201,
      answer: z.strictObject({
        token: z.string(),
        expiresAt: z.int(),
        callId: z.string(),
        runId: z.string(),
        entity: z.strictObject({ id: z.string(), displayName: z.string() }),
      }),
      refusals: [401, 429],
      audit: auditOpened,
      handle: async ({ body, address }, tx) =>
        await openCardLink(tx, secret, body.code).catch((error: unknown) => {
          throw error instanceof ApiError && statusOf(error) === 401 ? attempts.refuse(address, error) : error;
        }),
      async respond({ entity, callId, runId }) {
        const token = await signToken(secret, { entityId: entity.id, callId, expiresInSeconds: CARD_SECONDS });
        return Response.json({ ...token, callId, runId, entity }, { status: 201 });
      },
    }),
  ];
}

function auditOpened({ callId, entity }: OpenedCard): AuditedChange {
  const projectOf = { kind: 'entity', id: entity.id } as const;
  return { subject: { kind: 'call', id: callId }, projectOf, actor: { entityId: entity.id } };
}

function auditNotification({ id }: Notification): AuditedChange {
  return { subject: { kind: 'notification', id } };
}
