import type { Answer, Message, PendingCall } from '@lastcall/client';
import { type CardItem, type CardKind, cardKind } from '@lastcall/client/react';
import { whoAnswered } from '../run/wait-words.ts';

/** The call as a card shows it. `card` is the version in its space, which has more details; a call may have none. */
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
  const { callId, runId, agentId, spaceId = '', toolName, node, input, createdAt, resolvedAt = createdAt } = call;
  const {
    kind,
    display,
    resultSchema,
    answeredBy: answerers,
    expiresAt,
    round,
    resolvedBy,
    resolvedByName,
    mayGrant,
  } = call;
  const by =
    resolvedBy === undefined ? undefined : { id: resolvedBy, name: whoAnswered({ resolvedBy, resolvedByName }) };
  const { status = STATUS[call.status], decision, output } = call.status === 'resolved' ? endOf(call.answer) : {};
  const own = { kind, display, resultSchema, answerers, expiresAt, round, decision, by, at: call.resolvedAt, mayGrant };
  return {
    ...{ id: callId, callId, runId, spaceId, seq: 0, entityId: agentId, kind: 'tool', text: '' },
    status,
    metadata: { toolName, input, output, ...(node === undefined ? {} : { node }) },
    call: own,
    createdAt,
    updatedAt: resolvedAt,
  };
}

interface End {
  readonly status?: Message['status'];
  readonly decision?: NonNullable<Message['call']>['decision'];
  readonly output?: unknown;
}

/** The text of an answered card: the gateway's, if there is one. */
function endOf(answer: Answer | undefined): End {
  if (answer === undefined) return {};
  if ('result' in answer) return { decision: 'result', output: answer.result };
  if ('error' in answer) return { status: 'error', decision: 'error', output: { error: answer.error } };
  if ('deny' in answer) return { status: 'cancelled', decision: 'deny', output: { denied: answer.deny } };
  return { decision: 'approve' };
}

/** What a call needs from a person. */
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
