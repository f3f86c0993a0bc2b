import { DEFAULT_PROJECT } from '../../config/default-project.ts';
import type { NotifiedEvent } from '../../ports/store/schema/tables.ts';
import type { Redact } from '../../telemetry/redact.ts';
import type { WaitingCall } from '../calls/waiting-call.ts';

/** What one notification says. It is made when it is sent and never stored. */
export interface Notice {
  readonly id: string;
  readonly event: NotifiedEvent;
  readonly project: string;
  /** One line. */
  readonly title: string;
  readonly facts: readonly Fact[];
  readonly link?: NoticeLink;
  /** The same facts for programs. */
  readonly data: Readonly<Record<string, unknown>>;
}

interface Fact {
  readonly label: string;
  readonly text: string;
}

export interface NoticeLink {
  readonly url: string;
  readonly label: string;
  /** Set for a link that works once and acts for one person. */
  readonly expiresAt?: number;
}

/** What a notice is about, as the store has it. */
export interface NoticeSubject {
  readonly id: string;
  readonly event: NotifiedEvent;
  readonly project: string;
  readonly target: string;
  readonly agent?: { readonly id: string; readonly name: string } | undefined;
  readonly runId?: string | undefined;
  readonly call?: WaitingCall | undefined;
  readonly limit?: { readonly scope: string; readonly id: string } | undefined;
  readonly includesInput: boolean;
  readonly link?: NoticeLink | undefined;
  readonly redact: Redact;
}

const LONGEST_NAME = 100;
const LONGEST_TEXT = 1_000;
const LONGEST_INPUT = 4_000;

export function toNotice(subject: NoticeSubject): Notice {
  const { id, event, project, link } = subject;
  return { id, event, project, ...wordsOf(subject), ...(link === undefined ? {} : { link }) };
}

type Words = Pick<Notice, 'title' | 'facts' | 'data'>;

function wordsOf(subject: NoticeSubject): Words {
  const { event, agent, call, target, project } = subject;
  const name = oneLine(agent?.name ?? 'An agent', LONGEST_NAME);
  const shared = {
    ...(agent === undefined ? {} : { agent }),
    ...(subject.runId === undefined ? {} : { runId: subject.runId }),
  };
  const facts = [
    ...(agent === undefined ? [] : [{ label: 'Agent', text: name }]),
    ...(project === DEFAULT_PROJECT ? [] : [{ label: 'Project', text: project }]),
  ];
  if (call !== undefined) return callWords(subject, call, { facts, data: shared });
  if (event === 'agent.failed')
    return {
      title: `${name} failed`,
      facts: [...facts, { label: 'Now', text: 'It does not try again by itself.' }],
      data: shared,
    };
  if (event === 'limit.reached') {
    const { limit } = subject;
    const whose = LIMITS[limit?.scope ?? ''] ?? 'A spend limit is';
    return {
      title: `${name}: a spend limit of the day is reached`,
      facts: [...facts, { label: 'Limit', text: `${whose} used up. What arrives waits until 00:00 UTC.` }],
      data: { ...shared, ...(limit === undefined ? {} : { limit }) },
    };
  }
  return {
    title: `Test of the target ${target}`,
    facts: [{ label: 'Result', text: 'Notifications reach you here.' }],
    data: {},
  };
}

const LIMITS: Readonly<Record<string, string>> = {
  agent: 'What the agent may spend in a day is',
  person: 'What one person may spend in a day is',
  project: 'What the project may spend in a day is',
};

function callWords(
  { event, includesInput, redact }: NoticeSubject,
  call: WaitingCall,
  { facts, data }: Pick<Words, 'facts' | 'data'>,
): Words {
  const tool = oneLine(call.toolName, LONGEST_NAME);
  const wanted = call.kind === 'approval' ? 'approval' : 'an answer';
  const asked = call.kind === 'approval' ? undefined : questionIn(call.input);
  const question = asked === undefined ? undefined : cut(redact(asked), LONGEST_TEXT);
  const input = includesInput ? cut(redact(JSON.stringify(call.input) ?? 'null'), LONGEST_INPUT) : undefined;
  const expires = call.expiresAt === undefined ? undefined : new Date(call.expiresAt).toISOString();
  return {
    title:
      event === 'call.expiring' ? `${tool} still waits for ${wanted}, and expires soon` : `${tool} waits for ${wanted}`,
    facts: [
      { label: 'Tool', text: tool },
      ...facts,
      ...(question === undefined ? [] : [{ label: 'Question', text: question }]),
      ...(input === undefined ? [] : [{ label: 'Input', text: input }]),
      ...(expires === undefined ? [] : [{ label: 'Expires', text: expires }]),
    ],
    data: {
      ...data,
      call: {
        id: call.callId,
        tool: call.toolName,
        kind: call.kind,
        ...(call.spaceId === undefined ? {} : { spaceId: call.spaceId }),
        ...(question === undefined ? {} : { question }),
        ...(input === undefined ? {} : { input }),
        ...(call.expiresAt === undefined ? {} : { expiresAt: call.expiresAt }),
      },
    },
  };
}

/** The text of the input that a card shows as the question. */
function questionIn(input: unknown): string | undefined {
  if (typeof input === 'string') return input;
  if (typeof input !== 'object' || input === null) return undefined;
  const asked = Object.entries(input).find(([name, value]) => QUESTION.test(name) && typeof value === 'string');
  return asked?.[1] as string | undefined;
}

const QUESTION = /^(question|message|prompt|text|title|summary|description)$/i;

/** Control characters, and those that change the direction of text, could make a line look like several, or like another. */
export function oneLine(text: string, most: number): string {
  return cut(
    text
      .replace(/[\p{Cc}\p{Zl}\p{Zp}\u200e\u200f\u202a-\u202e\u2066-\u2069]+/gu, ' ')
      .replace(/ {2,}/g, ' ')
      .trim(),
    most,
  );
}

/** The further lines of a text, which must not look like lines of ours, e.g. like the one with the link. */
export function indented(text: string): string {
  return text.replaceAll(/\r\n|[\n\r\v\f\u0085\u2028\u2029]/g, '\n    ');
}

function cut(text: string, most: number): string {
  return text.length <= most ? text.toWellFormed() : `${text.slice(0, most - 1).toWellFormed()}…`;
}
