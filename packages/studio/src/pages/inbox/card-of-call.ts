import type { Message, PendingCall } from '@lastcall/client';
import type { CardItem } from '@lastcall/client/react';
import { type CardKind, cardKind } from '../../cards/call-shape.ts';

/** The call as a card shows it. `card`: as its space shows it, which knows more; a call may have none. */
export function toCardItem(call: PendingCall, card: Message | undefined): CardItem {
  const { callId, agentId, toolName } = call;
  return { kind: 'card', id: callId, entityId: agentId, toolName, inputText: '', message: card ?? toMessage(call) };
}

const STATUS = {
  pending: 'requires_action',
  resolved: 'complete',
  expired: 'expired',
  cancelled: 'cancelled',
} as const;

function toMessage(call: PendingCall): Message {
  const { callId, runId, agentId, spaceId = '', toolName, input, createdAt, resolvedAt = createdAt } = call;
  const { kind, display, resultSchema, answeredBy: answerers, expiresAt, round, resolvedBy, resolvedByName } = call;
  const by = resolvedBy === undefined ? undefined : { id: resolvedBy, name: resolvedByName ?? resolvedBy };
  const own = { kind, display, resultSchema, answerers, expiresAt, round, by, at: call.resolvedAt };
  return {
    ...{ id: callId, callId, runId, spaceId, seq: 0, entityId: agentId, kind: 'tool', text: '' },
    status: STATUS[call.status],
    metadata: { toolName, input },
    call: own,
    createdAt,
    updatedAt: resolvedAt,
  };
}

/** What a call wants of a person. */
export function wantedInWords(call: Pick<PendingCall, 'kind' | 'resultSchema'>): string {
  const { kind, resultSchema } = call;
  return WANTED[cardKind(resultSchema === undefined ? { kind } : { kind, resultSchema })];
}

const WANTED: Readonly<Record<CardKind, string>> = {
  approve: 'approve?',
  confirm: 'yes or no',
  choose: 'a choice',
  form: 'a form',
};
