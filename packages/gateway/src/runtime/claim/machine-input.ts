import type { Answer, Entry } from '@lastcall/core';
import type { WaitingEvent } from '../../domain/inbox/render-inbox.ts';
import { type GivenCommand, INPUT, type MachineInput } from '../../domain/transcript/machine-rows.ts';
import type { Tx } from '../../ports/store/store.ts';
import type { ThreadKind } from '../run/thread-kind.ts';
import { readDecisions } from './read-decisions.ts';

type Opening = Parameters<ThreadKind['entriesOf']>[1];

/**
 * What a run gives to a machine: the answers go to the instances that asked, and everything else to the primary, as one message.
 */
export async function readMachineInput(
  tx: Tx,
  kind: ThreadKind,
  events: readonly WaitingEvent[],
  opening: Opening,
): Promise<Entry> {
  const others = events.filter(({ event }) => event.type !== 'tool_result' && event.type !== 'command');
  const said = others.length === 0 ? [] : kind.entriesOf(others, opening);
  const messages = said.flatMap((entry) => (entry.kind === 'message' ? [entry.message] : []));
  const answers = await readAnswers(tx, events);
  const commands = events.flatMap(toCommand);
  const input: MachineInput = { kind: INPUT, messages, answers, ...(commands.length === 0 ? {} : { commands }) };
  // Its readers know it by its kind; to all others it is a row that they leave out.
  return input as unknown as Entry;
}

export function answersOf([input]: readonly Entry[]): Readonly<Record<string, Answer>> {
  return (input as unknown as MachineInput | undefined)?.answers ?? {};
}

function toCommand({ eventId: key, event }: WaitingEvent): readonly GivenCommand[] {
  if (event.type !== 'command' || event.hasRun === true) return [];
  const { name, input, instanceId } = event;
  return [{ key, name, input, instanceId }];
}

/** Approvals, denials and answers to questions, and also the results, which a turn has settled before it begins. */
async function readAnswers(tx: Tx, events: readonly WaitingEvent[]): Promise<Readonly<Record<string, Answer>>> {
  const results: Record<string, Answer> = {};
  for (const { event } of events) {
    if (event.type !== 'tool_result') continue;
    const { callId, outcome } = event;
    if (outcome.status === 'ok') results[callId] = { result: outcome.value };
    if (outcome.status === 'error') results[callId] = { error: outcome.message };
    if (outcome.status === 'expired') results[callId] = await expiredAnswer(tx, callId);
  }
  return { ...results, ...(await readDecisions(tx, events)) };
}

/** A call that was not approved in time is denied. Any other call that no one answered fails. */
async function expiredAnswer(tx: Tx, callId: string): Promise<Answer> {
  const call = await tx.db.selectFrom('calls').select('wait_kind').where('id', '=', callId).executeTakeFirst();
  return call?.wait_kind === 'approval' ? { deny: EXPIRED } : { error: EXPIRED };
}

const EXPIRED = 'No one answered in time.';
