import type { Run, RunEntry } from '@lastcall/client';
import { type Arrival, type CallRow, type LineRow, type TimelineRow, toTimeline } from '@lastcall/client/timeline';
import { statusInWords } from './status-in-words.ts';
import { stopInWords } from './stop-in-words.ts';
import { duration } from './terminal/duration.ts';
import { plainLine } from './terminal/plain-line.ts';

/** A run as lines: what came, each step of the model, its calls in order with their outcomes, and why it ended. */
export function timelineInWords(run: Run, entries: readonly RunEntry[]): string {
  const { rows, steps } = toTimeline(run, entries);
  return [headOf(run, steps), ...rows.flatMap((row) => linesOf(row, run, steps))].join('\n');
}

function headOf({ id, number, status, stop, usage, createdAt, endedAt, trial }: Run, asked: number): string {
  const facts = [
    `run ${id}`,
    `number ${number}`,
    trial === undefined ? undefined : trial.runId === undefined ? trial.kind : `${trial.kind} of ${trial.runId}`,
    stop === undefined ? status : `${status}: ${stopInWords(stop, { asked })}`,
    endedAt === undefined ? undefined : duration(endedAt - createdAt),
    usage?.totalTokens === undefined ? undefined : `${usage.estimated === true ? '~' : ''}${usage.totalTokens} tokens`,
  ];
  return facts.filter((fact) => fact !== undefined).join('  ');
}

function linesOf(row: TimelineRow, { stop }: Run, asked: number): readonly string[] {
  switch (row.kind) {
    case 'call':
      return [callLine(row)];
    case 'step': {
      const said = row.text === '' ? [] : [`  said      ${plainLine(row.text)}`];
      return [
        `Step ${row.step}  model  ${row.usage.estimated === true ? '~' : ''}${row.usage.totalTokens} tokens`,
        ...said,
      ];
    }
    case 'stop':
      return stop === undefined ? [] : [`  stop      ${stopInWords(stop, { asked })}`];
    default: {
      const text = lineInWords(row);
      return text === undefined ? [] : [text];
    }
  }
}

function callLine({ toolName, outcome, settlement, asked, startedAt, endedAt, laterEndAt = endedAt }: CallRow): string {
  const status = settlement === undefined ? outcome : statusInWords(settlement.outcome);
  const line = `  ${status.padEnd(9)} ${plainLine(toolName)} ${inputInWords(settlement?.input ?? asked)}`;
  if (settlement === undefined || status === 'waiting') return line.trimEnd();
  const took = startedAt === undefined || laterEndAt === undefined ? '' : duration(laterEndAt - startedAt);
  return `${line}  ${took}  ${plainLine(settlement.outcome.text, 120)}`.trimEnd();
}

function inputInWords(input: unknown): string {
  return plainLine(typeof input === 'string' ? input : (JSON.stringify(input) ?? ''), 80);
}

/** Undefined for what changed only what the model sees. */
function lineInWords(row: Exclude<LineRow, { kind: 'stop' }>): string | undefined {
  switch (row.kind) {
    case 'arrival':
      return `  came      ${arrivalInWords(row.arrival)}`;
    case 'message':
      return `  came      ${plainLine(row.text)}`;
    case 'takeover':
      return `  takeover  another worker went on after ${duration(row.takeover.silentMs)} of silence`;
    case 'nudge':
      return '  nudge     the model was asked to end with one of the required tools';
    case 'rewind':
      return '  rewind    the model went back to the start of its turn';
    case 'asking':
      return '  asking    the model is being asked';
    case 'trimmed':
    case 'summary':
      return undefined;
  }
}

function arrivalInWords({ by, type, text, data }: Arrival): string {
  const line = plainLine(`${by ?? type}: ${text}`);
  const more = dataBeyondText((data ?? {}) as Readonly<Record<string, unknown>>);
  return more === undefined || more === null ? line : `${line} ${plainLine(JSON.stringify(more))}`;
}

/** A message and a plan are their text. An event of a service is its name and what came with it. Others have no text. */
function dataBeyondText(data: Readonly<Record<string, unknown>>): unknown {
  if (typeof data.text === 'string' || typeof data.instruction === 'string') return undefined;
  return typeof data.name === 'string' ? data.data : data;
}
