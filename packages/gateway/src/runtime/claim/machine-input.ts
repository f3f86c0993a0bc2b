import type { Answer, Entry } from '@lastcall/core';
import type { WaitingEvent } from '../../domain/inbox/render-inbox.ts';
import { type GivenCommand, INPUT, type MachineInput } from '../../domain/transcript/machine-rows.ts';
import type { ThreadKind } from '../run/thread-kind.ts';

type Opening = Parameters<ThreadKind['entriesOf']>[1];

/**
 * What a run gives to a machine: the answers go to the instances that asked, and everything else to the primary, as one message.
 */
export function toMachineInput(kind: ThreadKind, events: readonly WaitingEvent[], opening: Opening): Entry {
  const others = events.filter(({ event }) => event.type !== 'tool_result' && event.type !== 'command');
  const said = others.length === 0 ? [] : kind.entriesOf(others, opening);
  const messages = said.flatMap((entry) => (entry.kind === 'message' ? [entry.message] : []));
  const answers = Object.fromEntries(events.flatMap(toAnswer));
  const commands = events.flatMap(toCommand);
  const input: MachineInput = { kind: INPUT, messages, answers, ...(commands.length === 0 ? {} : { commands }) };
  // Its readers know it by its kind; to all others it is a row that they leave out.
  return input as unknown as Entry;
}

export function answersOf([input]: readonly Entry[]): Readonly<Record<string, Answer>> {
  return (input as unknown as MachineInput | undefined)?.answers ?? {};
}

function toCommand({ eventId: key, event }: WaitingEvent): readonly GivenCommand[] {
  if (event.type !== 'command') return [];
  const { name, input, instanceId } = event;
  return [{ key, name, input, instanceId }];
}

function toAnswer({ event }: WaitingEvent): readonly (readonly [callId: string, answer: Answer])[] {
  if (event.type !== 'tool_result') return [];
  const { callId, outcome } = event;
  switch (outcome.status) {
    case 'ok':
      return [[callId, { result: outcome.value }]];
    case 'error':
      return [[callId, { error: outcome.message }]];
    case 'expired':
      return [[callId, { error: 'No one answered in time.' }]];
    case 'approved':
      return [[callId, { approve: true, ...('input' in outcome ? { input: outcome.input } : {}) }]];
    case 'denied':
      return [[callId, { deny: outcome.reason }]];
    case 'answered':
      return [];
  }
}
