import type { Entry } from '@lastcall/core';
import { parseJson } from '@lastcall/core/internal';
import type { Kysely } from 'kysely';
import { outcomesOf } from '../../domain/calls/outcomes-of.ts';
import type { WaitingCall } from '../../domain/calls/waiting-call.ts';
import { askedCalls } from '../../domain/conversations/asked-calls.ts';
import { responseOf } from '../../domain/conversations/to-messages.ts';
import type { Tables } from '../../ports/store/schema/tables.ts';
import { RunChunks } from './run-chunks.ts';
import type { UiChunk } from './ui-chunk.ts';

type ReplyEntry = Extract<Entry, { kind: 'reply' }>;
type Settlement = Pick<Extract<Entry, { kind: 'settled' }>['settlement'], 'input' | 'outcome'>;

/** The chunks of a stored turn, with the same parts as its events would produce. */
export async function storedChunks(
  db: Kysely<Tables>,
  contextId: string,
  entries: readonly Entry[],
): Promise<readonly UiChunk[]> {
  const asked = await askedCalls(db, contextId, callIdsOf(entries));
  const ends = new Map<string, Settlement>(
    entries.flatMap((one) => (one.kind === 'settled' ? [[one.settlement.callId, one.settlement] as const] : [])),
  );
  const answered = [...asked.values()].filter(({ callId, status }) => status === 'resolved' && !ends.has(callId));
  return chunksOf(entries, asked, new Map([...ends, ...(await lateEnds(db, answered))]));
}

/** The ends of calls that were answered after another turn had begun: that turn has their entries. */
async function lateEnds(
  db: Kysely<Tables>,
  answered: readonly WaitingCall[],
): Promise<readonly (readonly [string, Settlement])[]> {
  if (answered.length === 0) return [];
  const outcomes = await outcomesOf(
    db,
    answered.map(({ callId }) => callId),
  );
  return outcomes.flatMap(({ callId, outcome }) => {
    const call = answered.find((one) => one.callId === callId);
    const { input = call?.input } = (call?.answer ?? {}) as { readonly input?: unknown };
    return outcome.status === 'pending' ? [] : [[callId, { input, outcome }] as const];
  });
}

function chunksOf(
  entries: readonly Entry[],
  asked: ReadonlyMap<string, WaitingCall>,
  ends: ReadonlyMap<string, Settlement>,
): readonly UiChunk[] {
  const translator = new RunChunks();
  const replies = entries.filter((entry) => entry.kind === 'reply');
  const said = replies.flatMap((reply) => [
    ...translator.of({ type: 'step.start', payload: { step: reply.step } }),
    ...textChunks(translator, reply),
    ...reply.calls.flatMap(({ callId, toolName, input }) =>
      callChunks(translator, { callId, toolName, written: input, end: ends.get(callId), asked: asked.get(callId) }),
    ),
    ...translator.close(),
  ]);
  const stop = entries.findLast((entry) => entry.kind === 'stop')?.stop;
  const isTerminal = stop?.reason === 'end_turn' && stop.by !== 'text';
  return isTerminal ? [...said, ...translator.textStep(responseOf(entries))] : said;
}

/** The ids of the calls of a turn. */
function callIdsOf(entries: readonly Entry[]): readonly string[] {
  return entries.flatMap((entry) => (entry.kind === 'reply' ? entry.calls.map(({ callId }) => callId) : []));
}

function textChunks(translator: RunChunks, { content }: ReplyEntry): readonly UiChunk[] {
  return content.flatMap((part) =>
    (part.type === 'text' || part.type === 'reasoning') && part.text !== ''
      ? translator.of({ type: `${part.type}.delta`, payload: { delta: part.text } })
      : [],
  );
}

interface StoredCall {
  readonly callId: string;
  readonly toolName: string;
  /** The input as the model wrote it. */
  readonly written: string;
  readonly end: Settlement | undefined;
  readonly asked: WaitingCall | undefined;
}

function callChunks(translator: RunChunks, { callId, toolName, written, end, asked }: StoredCall): readonly UiChunk[] {
  const told = (type: string, input: unknown, outcome: object, call?: WaitingCall): readonly UiChunk[] =>
    translator.of({ type, payload: { callId, toolName, input, outcome } }, call);
  const waited =
    asked === undefined
      ? []
      : [
          ...told('tool-call.pending', asked.input, { status: 'pending', kind: asked.kind }, asked),
          ...translator.answers([asked]),
        ];
  if (end !== undefined) return [...waited, ...told('tool-call.complete', end.input, end.outcome)];
  if (asked !== undefined) return waited;
  // The run failed or was cancelled before the call ended.
  const text = 'The run ended before the call did.';
  return told('tool-call.cancelled', parsed(written), { status: 'cancelled', text });
}

function parsed(text: string): unknown {
  try {
    return parseJson(text);
  } catch {
    return text;
  }
}
