import type { Kysely } from 'kysely';
import { fromJson } from '../../src/ports/store/schema/json.ts';
import type { StreamEventRow, Tables } from '../../src/ports/store/schema/tables.ts';

/** The problems of the stored streams: numbers must have no gaps, and everything that began must have one end. */
export async function problemsOfStreams(db: Kysely<Tables>): Promise<string[]> {
  const streams = await db.selectFrom('streams').selectAll().execute();
  const events = await db.selectFrom('stream_events').selectAll().orderBy('seq').execute();
  return streams.flatMap(({ id, next_seq, swept_seq }) => {
    const own = events.filter(({ stream }) => stream === id);
    // An erasure or a sweep may have deleted the first ones.
    const first = swept_seq + 1;
    const isWhole = own.length === next_seq - first && own.every(({ seq }, index) => seq === first + index);
    const problems = isWhole ? [] : [`Events of ${id} from ${first} on are numbered ${own.map(({ seq }) => seq)}.`];
    return id.startsWith('space:') && first === 1 ? [...problems, ...problemsOfSpace(own)] : problems;
  });
}

/** Events as letters: begin, delta, end. */
const LETTERS: Readonly<Record<string, string>> = {
  'agent.active': 'B',
  'agent.inactive': 'E',
  'message.start': 'B',
  'message.delta': 'd',
  'message.complete': 'E',
  'message.cancelled': 'X',
  'tool-call.start': 'B',
  'tool-input-delta': 'd',
  'tool-call.progress': 'd',
  'tool-call.requires-action': 'R',
  'tool-call.complete': 'E',
  'tool-call.error': 'E',
  'tool-call.expired': 'E',
  'tool-call.cancelled': 'E',
};

/** The valid order of events of each kind. */
const COURSES: Readonly<Record<string, RegExp>> = {
  agent: /^(BE)+$/,
  // A message that is posted as a whole has only an end.
  message: /^(Bd*[EX]|E)$/,
  // A call that waits for a person may start only after the answer.
  tool: /^Bd*(RB?d*)?E$/,
};

function problemsOfSpace(events: readonly StreamEventRow[]): string[] {
  const streams = Map.groupBy(
    events.filter(({ type }) => type in LETTERS),
    ({ type, payload }) => `${type.split(/[.-]/)[0]} ${keyOf(type, fromJson(payload))}`,
  );
  return [...streams].flatMap(([name, own]) => {
    const course = own.map(({ type }) => LETTERS[type]).join('');
    const [kind = ''] = name.split(' ');
    const problems =
      COURSES[kind]?.test(course) === true ? [] : [`The stream ${name} went ${own.map(({ type }) => type)}.`];
    return kind === 'message' ? [...problems, ...problemsOfText(name, own)] : problems;
  });
}

function keyOf(type: string, payload: { runId?: string; callId?: string; streamId?: string }): string | undefined {
  return type.startsWith('agent.') ? payload.runId : (payload.callId ?? payload.streamId);
}

/** The deltas must add up to the stored text. */
function problemsOfText(name: string, events: readonly StreamEventRow[]): string[] {
  const deltas = events.filter(({ type }) => type === 'message.delta');
  const end = events.find(({ type }) => type === 'message.complete');
  if (end === undefined || deltas.length === 0) return [];
  const shown = deltas.map(({ payload }) => fromJson<{ delta: string }>(payload).delta).join('');
  const { text } = fromJson<{ message: { text: string } }>(end.payload).message;
  return shown === text
    ? []
    : [`The stream ${name} showed ${JSON.stringify(shown)}, and ${JSON.stringify(text)} was sent.`];
}
