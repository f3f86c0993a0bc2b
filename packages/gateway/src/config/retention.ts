import { z } from 'zod';
import type { GatewayLimits } from './limits.ts';

/** How many days what is stored. What is left out has its default. */
export interface RetentionInput {
  /** Messages of spaces. Default: for good. */
  readonly messages?: number | undefined;
  /** Runs with their calls, and the part of the transcript that was compacted. Default: for good. */
  readonly runs?: number | undefined;
  /** Texts of requests to models, after their last use. Default 365. */
  readonly requests?: number | undefined;
  /** Images that tools made. Default: for good. */
  readonly artifacts?: number | undefined;
  /** Events of streams, for clients that missed them. Default 1/24, an hour. */
  readonly streamEvents?: number | undefined;
  /** Conversations, after their last use. Default 365. */
  readonly conversations?: number | undefined;
  /** The same for conversations of MCP calls, and for those that a request with `save: false` made. Default 7. */
  readonly briefConversations?: number | undefined;
  /** Entries of the audit. Default 365. */
  readonly audit?: number | undefined;
  /** Notifications. Default 30. */
  readonly notifications?: number | undefined;
}

const days = z
  .number()
  .min(1 / 1_440, { error: 'must be at least one minute: 1 / 1440 of a day.' })
  .max(1_000_000)
  .optional();

export const retentionSchema: z.ZodType<RetentionInput> = z.strictObject({
  messages: days,
  runs: days,
  requests: days,
  artifacts: days,
  streamEvents: days,
  conversations: days,
  briefConversations: days,
  audit: days,
  notifications: days,
});

type RetentionLimit =
  | 'messageDays'
  | 'runDays'
  | 'requestDays'
  | 'artifactDays'
  | 'contextDays'
  | 'briefContextDays'
  | 'auditDays'
  | 'notificationDays'
  | 'streamWindowMs';

/** Where the configuration has these limits. */
export const RETENTION_NAMES: Readonly<Record<RetentionLimit, keyof RetentionInput>> = {
  messageDays: 'messages',
  runDays: 'runs',
  requestDays: 'requests',
  artifactDays: 'artifacts',
  contextDays: 'conversations',
  briefContextDays: 'briefConversations',
  auditDays: 'audit',
  notificationDays: 'notifications',
  streamWindowMs: 'streamEvents',
};

export const DAY_MS = 86_400_000;

export function retentionLimits(retention: RetentionInput): Partial<Pick<GatewayLimits, RetentionLimit>> {
  const { streamEvents } = retention;
  return {
    ...Object.fromEntries(
      Object.entries(RETENTION_NAMES).flatMap(([limit, name]) =>
        retention[name] === undefined || name === 'streamEvents' ? [] : [[limit, retention[name]]],
      ),
    ),
    ...(streamEvents === undefined ? {} : { streamWindowMs: streamEvents * DAY_MS }),
  };
}
