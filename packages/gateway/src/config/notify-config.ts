import { z } from 'zod';
import { secretTemplate, urlProblem } from './http-execution.ts';

/** What a target can be told. */
export type NotifyEvent = (typeof NOTIFY_EVENTS)[number];

export const NOTIFY_EVENTS = ['call.waiting', 'call.expiring', 'agent.failed', 'limit.reached'] as const;

/** Where people are notified: exactly one of `webhook`, `email` and `slack`. */
export interface NotifyConfig {
  readonly webhook?: NotifyWebhook | undefined;
  readonly email?: NotifyEmail | undefined;
  readonly slack?: NotifySlack | undefined;
  /** Default: all events. */
  readonly events?: readonly NotifyEvent[] | undefined;
  /** Names of agents. Default: all agents of the project. */
  readonly agents?: readonly string[] | undefined;
  /** The project that it hears of. Default `default`. */
  readonly project?: string | undefined;
  /** The person who reads it: links act for this person, and only calls that this person may answer are sent. */
  readonly person?: NotifiedPerson | undefined;
  /** `input`: the input of the call is sent along. Default: nothing more. */
  readonly include?: 'input' | undefined;
  /** How long a link works. Default 24. */
  readonly linkHours?: number | undefined;
}

/** A person of the project, by one of the two ids. */
export interface NotifiedPerson {
  readonly externalId?: string | undefined;
  readonly id?: string | undefined;
}

interface NotifyWebhook {
  readonly url: string;
  /** `${env.NAME}`, or several while a secret is replaced. Requests are always signed. */
  readonly signingSecret: string | readonly string[];
}

export interface NotifyEmail {
  readonly host: string;
  /** Default 465 for `implicit`, otherwise 587. */
  readonly port?: number | undefined;
  /** `starttls` (the default): nothing is sent before the connection is encrypted. `implicit`: encrypted from the start. */
  readonly tls?: 'starttls' | 'implicit' | 'none' | undefined;
  /** `${env.NAME}`. */
  readonly user?: string | undefined;
  /** `${env.NAME}`. */
  readonly password?: string | undefined;
  readonly from: string;
  /** An address, or `answerers`: every person who may answer the call and has `email` in their metadata. */
  readonly to: string;
}

interface NotifySlack {
  /** The address of an incoming webhook, which is a secret: `${env.NAME}`. */
  readonly url: string;
}

export type NotifyTargets = Readonly<Record<string, NotifyConfig>>;

const MAX_TARGETS = 50;
export const DEFAULT_LINK_HOURS = 24;
const MAX_LINK_HOURS = 168;

/** Addresses as people have them. Quoted names, comments and lists of addresses are refused: they can hide a second recipient. */
export function isMailAddress(text: string): boolean {
  return text.length <= 254 && /^[\w.!#$%&'*+/=?^`{|}~-]{1,64}@[A-Za-z0-9-]+(\.[A-Za-z0-9-]+)*$/.test(text);
}

const mailAddress = z.string().refine(isMailAddress, { error: 'must be one e-mail address, without a name.' });
const plainUrl = z
  .string()
  .max(2_000)
  .superRefine((text, ctx) => {
    const message = /\{\{|\$\{/.test(text) ? 'must not have placeholders.' : urlProblem(text);
    if (message !== undefined) ctx.addIssue({ code: 'custom', message });
  });

const emailSchema = z
  .strictObject({
    host: z
      .string()
      .regex(/^[A-Za-z0-9.:-]{1,253}$/, { error: 'must be the name of a mail server, e.g. "smtp.example.com".' }),
    port: z.int().min(1).max(65_535).optional(),
    tls: z.enum(['starttls', 'implicit', 'none'], { error: 'must be "starttls", "implicit" or "none".' }).optional(),
    user: secretTemplate.optional(),
    password: secretTemplate.optional(),
    from: mailAddress,
    to: z.union([z.literal('answerers'), mailAddress], { error: 'must be one e-mail address, or "answerers".' }),
  })
  .superRefine(({ user, password, tls }, ctx) => {
    if ((user === undefined) !== (password === undefined))
      ctx.addIssue({ code: 'custom', message: 'must have both "user" and "password", or neither.' });
    if (password !== undefined && tls === 'none')
      ctx.addIssue({
        code: 'custom',
        path: ['tls'],
        message: 'must not be "none" with a password: it could be read on the way.',
      });
  });

const targetSchema = z
  .strictObject({
    webhook: z
      .strictObject({
        url: plainUrl,
        signingSecret: z.union([secretTemplate, z.array(secretTemplate).min(1).max(5)], {
          error: `must be "\${env.NAME}", or a list of up to 5 of these.`,
        }),
      })
      .optional(),
    email: emailSchema.optional(),
    slack: z.strictObject({ url: secretTemplate }).optional(),
    events: z
      .array(z.enum(NOTIFY_EVENTS, { error: `must be one of ${NOTIFY_EVENTS.join(', ')}.` }))
      .min(1)
      .optional(),
    agents: z.array(z.string()).min(1).max(1_000).optional(),
    project: z.string().min(1).max(200).optional(),
    person: z
      .strictObject({ externalId: z.string().min(1).max(200).optional(), id: z.string().min(1).max(200).optional() })
      .refine(({ externalId, id }) => (externalId === undefined) !== (id === undefined), {
        error: 'must have either "externalId" or "id".',
      })
      .optional(),
    include: z.literal('input', { error: 'must be "input".' }).optional(),
    linkHours: z.number().min(0.01).max(MAX_LINK_HOURS).optional(),
  })
  .superRefine((target, ctx) => {
    const kinds = [target.webhook, target.email, target.slack].filter((one) => one !== undefined);
    if (kinds.length !== 1)
      ctx.addIssue({ code: 'custom', message: 'must have exactly one of "webhook", "email" and "slack".' });
    if (target.email?.to !== 'answerers') return;
    if (target.person !== undefined)
      ctx.addIssue({ code: 'custom', path: ['person'], message: 'must be left out if "to" is "answerers".' });
    if (target.events === undefined || target.events.some((event) => !event.startsWith('call.')))
      ctx.addIssue({
        code: 'custom',
        path: ['events'],
        message: 'must be "call.waiting", "call.expiring" or both if "to" is "answerers": only calls have answerers.',
      });
  });

const NAME = 'must have a name of 1–64 letters, digits, "-" and "_" that begins with a letter or a digit.';

export const notifySchema: z.ZodType<NotifyTargets> = z.record(z.string(), targetSchema).superRefine((targets, ctx) => {
  const names = Object.keys(targets);
  if (names.length > MAX_TARGETS)
    ctx.addIssue({ code: 'custom', message: `must have at most ${MAX_TARGETS} targets.` });
  for (const name of names)
    if (!/^[A-Za-z0-9][\w-]{0,63}$/.test(name)) ctx.addIssue({ code: 'custom', path: [name], message: NAME });
});
