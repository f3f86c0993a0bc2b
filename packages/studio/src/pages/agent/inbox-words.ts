import type { Agent, InboxError, InboxEvent, InboxItem } from '@lastcall/client';

/** An event, in words. */
export function eventInWords(event: InboxEvent): string {
  switch (event.type) {
    case 'space_message':
      return `${event.from.name} in ${event.spaceName}: “${event.text}”`;
    case 'tool_result':
      return `${event.toolName} ${RESULTS[event.outcome.status]}${event.resolvedBy === undefined ? '' : ` by ${event.resolvedBy.name}`}`;
    case 'plan':
      return `Plan “${event.name}”${event.late === true ? ', late' : ''}: ${event.instruction}`;
    case 'service':
      return `${event.name} from ${event.source}`;
    case 'chat':
      return event.isAnswer === true ? 'An answer in a chat' : 'A chat request';
    case 'command':
      return `Command “${event.name}”`;
  }
}

const RESULTS = {
  ok: 'was answered',
  error: 'failed',
  expired: 'was not answered in time',
  approved: 'was approved',
  denied: 'was denied',
  answered: 'was given its input',
} as const;

/** Why an event failed or was withheld, and what redriving it will do. */
export function errorInWords(error: InboxError): string {
  if (!('reason' in error)) return error.message;
  return error.reason === 'budget' ? `A spend limit is reached. It waits until ${utc(error.until)}.` : error.error;
}

function utc(ms: number): string {
  return `${new Date(ms).toISOString().slice(0, 16).replace('T', ' ')} UTC`;
}

/** What to do about an event that is not being handled. */
export function adviceFor({ status, error }: Pick<InboxItem, 'status' | 'error'>): string | undefined {
  if (status === 'dead') return 'Fix the cause, then redrive it: its attempts start again at one.';
  if (status !== 'withheld') return undefined;
  const code = error !== undefined && 'code' in error ? error.code : undefined;
  return code === 'hop_limit'
    ? 'Agents had answered each other too often in a row. Redriving it lets it through.'
    : 'It was held back. Redriving it lets it through.';
}

/** Only dead and withheld events can be redriven. */
export function canRedrive({ status }: Pick<InboxItem, 'status'>): boolean {
  return status === 'dead' || status === 'withheld';
}

export function inboxInWords({ pending, dead, withheld }: Agent['inbox']): string {
  const parts = [
    pending === 0 ? 'nothing waits' : `${pending.toLocaleString()} wait`,
    ...(dead === 0 ? [] : [`${dead.toLocaleString()} dead`]),
    ...(withheld === 0 ? [] : [`${withheld.toLocaleString()} withheld`]),
  ];
  return parts.join(', ');
}
