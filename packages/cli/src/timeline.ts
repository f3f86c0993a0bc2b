import { stopInWords } from './stop-in-words.ts';
import { duration } from './terminal/duration.ts';
import { plainLine } from './terminal/plain-line.ts';

export interface Run {
  readonly id: string;
  readonly cycle: number;
  readonly status: string;
  readonly stop?: { readonly reason: string } & Readonly<Record<string, unknown>>;
  readonly usage?: { readonly totalTokens?: number } | null;
  readonly createdAt: number;
  readonly endedAt?: number;
}

export interface RunEntry {
  readonly kind: string;
  readonly at: number;
  readonly entry: Readonly<Record<string, unknown>>;
  /** How a waiting call ended, perhaps in a later run. */
  readonly ended?: { readonly outcome: Readonly<Record<string, unknown>>; readonly at: number };
}

/**
 * Prints a run as lines: the events that woke the agent, each step of the model, its calls in order with their
 * outcomes, and why the run ended.
 */
export function timeline(run: Run, entries: readonly RunEntry[]): string {
  const asked = entries.filter(({ kind }) => kind === 'reply').length;
  return [headOf(run, asked), ...entries.flatMap((entry) => linesOf(entry, asked))].join('\n');
}

function headOf({ id, cycle, status, stop, usage, createdAt, endedAt }: Run, asked: number): string {
  const facts = [
    `run ${id}`,
    `cycle ${cycle}`,
    stop === undefined ? status : `${status}: ${stopInWords(stop, { asked })}`,
    endedAt === undefined ? undefined : duration(endedAt - createdAt),
    usage?.totalTokens === undefined ? undefined : `${usage.totalTokens} tokens`,
  ];
  return facts.filter((fact) => fact !== undefined).join('  ');
}

function linesOf({ kind, entry, ended }: RunEntry, asked: number): readonly string[] {
  switch (kind) {
    case 'message':
      return arrivals(entry.message).map((text) => `  came      ${plainLine(text)}`);
    case 'reply':
      return [`Step ${entry.step}  model  ${tokensOf(entry.usage)}`, ...said(entry.text)];
    case 'settled':
      return [callLine(entry.settlement as Settlement)];
    case 'pending':
      return [waitLine(entry.settlement as Settlement, ended)];
    case 'nudge':
      return ['  nudge     the model was asked to end with one of the required tools'];
    case 'rewind':
      return ['  rewind    the model went back to the start of its turn'];
    case 'stop':
      return [`  stop      ${stopInWords(entry.stop as { reason: string }, { asked })}`];
    default:
      return [];
  }
}

interface Settlement {
  readonly toolName: string;
  readonly input: unknown;
  readonly outcome: Readonly<Record<string, unknown>>;
  readonly startedAt: number;
  readonly endedAt: number;
}

/** A call that waited, and its outcome if it has one. */
function waitLine(settlement: Settlement, ended: RunEntry['ended']): string {
  if (ended !== undefined) return callLine({ ...settlement, outcome: ended.outcome, endedAt: ended.at });
  const { toolName, input } = settlement;
  return `  waiting   ${plainLine(toolName)} ${askedIn(input)}`;
}

function askedIn(input: unknown): string {
  return plainLine(typeof input === 'string' ? input : JSON.stringify(input), 80);
}

function callLine({ toolName, input, outcome, startedAt, endedAt }: Settlement): string {
  const status = String(outcome.code ?? outcome.status).padEnd(9);
  const asked = askedIn(input);
  const got = plainLine(String(outcome.text ?? ''), 120);
  return `  ${status} ${plainLine(toolName)} ${asked}  ${duration(endedAt - startedAt)}  ${got}`.trimEnd();
}

function said(text: unknown): readonly string[] {
  return typeof text === 'string' && text !== '' ? [`  said      ${plainLine(text)}`] : [];
}

function tokensOf(usage: unknown): string {
  const { totalTokens } = (usage ?? {}) as { totalTokens?: number };
  return totalTokens === undefined ? '' : `${totalTokens} tokens`;
}

interface Part {
  readonly type?: string;
  readonly text?: string;
  readonly events?: readonly ArrivedEvent[];
}

interface ArrivedEvent {
  readonly type: string;
  readonly data?: { readonly from?: { readonly name?: string }; readonly text?: string } & Readonly<
    Record<string, unknown>
  >;
}

/** One text per event that woke the agent. */
function arrivals(message: unknown): readonly string[] {
  const { content } = (message ?? {}) as { content?: string | readonly Part[] };
  if (content === undefined || typeof content === 'string') return [content ?? ''];
  return content.flatMap(({ text, events }) => events?.map(eventInWords) ?? (text === undefined ? [] : [text]));
}

function eventInWords({ type, data = {} }: ArrivedEvent): string {
  return data.text === undefined ? `${type} ${JSON.stringify(data)}` : `${data.from?.name ?? type}: ${data.text}`;
}
