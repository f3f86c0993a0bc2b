import type { Answer, Call, StoryWait } from '@lastcall/client';
import { dayTime, duration } from '../ui/time.tsx';

/** `Ada answered after 2 h`, or whom the call waits for. */
export function waitInWords(call: Call | undefined): string {
  const pending = call?.pending;
  if (pending === undefined) return '';
  const { status, kind, answer, resolvedAt, createdAt, expiresAt } = pending;
  switch (status) {
    case 'pending':
      return `for ${WAITED[kind]}${expiresAt === undefined ? '' : `, until ${dayTime(expiresAt)}`}`;
    case 'expired':
      return expiresAt === undefined
        ? 'no answer came in time'
        : `no answer came within ${duration(expiresAt - createdAt)}`;
    case 'cancelled':
      return 'no answer is needed any more';
    case 'resolved':
      return `${whoAnswered(pending, call?.card?.call?.by?.name)} ${answerInWords(answer)}${resolvedAt === undefined ? '' : ` after ${duration(resolvedAt - createdAt)}`}`;
  }
}

/** The wait of a call, as a line of the timeline: `Ada approved pay_invoice after 2 h`. */
export function waitLineInWords({
  toolName,
  kind,
  status,
  since,
  until,
  expiresAt,
  decision,
  edited,
  by,
}: StoryWait): string {
  if (until === undefined)
    return `${toolName} waits for ${WAITED[kind]}${expiresAt === undefined ? '' : `, until ${dayTime(expiresAt)}`}`;
  const after = `after ${duration(until - since)}`;
  if (decision !== undefined)
    return `${by ?? 'an operator'} ${DECIDED[decision]} ${toolName}${edited === true ? ' with changes' : ''} ${after}`;
  if (status === 'expired') return `No one answered ${toolName} within ${duration(until - since)}`;
  return `${toolName} no longer waited ${after}`;
}

const DECIDED = { approve: 'approved', deny: 'denied', result: 'answered', error: 'answered with an error:' } as const;

/** The card has the name of the person who answered. A call that no space shows has only an id. */
export function whoAnswered(
  {
    resolvedBy,
    resolvedByName,
  }: { readonly resolvedBy?: string | undefined; readonly resolvedByName?: string | undefined },
  name?: string,
): string {
  const known = resolvedByName ?? name;
  if (known !== undefined) return known;
  return resolvedBy === undefined || resolvedBy.startsWith('key:') ? 'an operator' : resolvedBy;
}

/** What kind of answer it was, without its content. */
export function answerInWords(answer: Answer | undefined): string {
  if (answer === undefined || 'result' in answer) return 'answered';
  if ('approve' in answer) return answer.input === undefined ? 'approved' : 'approved with changes';
  return 'deny' in answer ? 'denied' : 'answered with an error';
}

const WAITED = { result: 'an answer', approval: 'approval', input: 'an answer to its question' } as const;
