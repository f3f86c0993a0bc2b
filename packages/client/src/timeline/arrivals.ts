import type { ModelMessage } from '../wire.generated.ts';

/** An event that woke the agent, as its transcript shows it. */
export interface Arrival {
  readonly type: string;
  /** The name of the sender. */
  readonly by: string | undefined;
  readonly text: string;
  readonly at: number | undefined;
  readonly spaceId: string | undefined;
  readonly spaceName: string | undefined;
  /** The call that was answered. */
  readonly callId: string | undefined;
  /** The data of the event, all of it. */
  readonly data: unknown;
}

interface ArrivedEvent {
  readonly type: string;
  readonly source?: string;
  readonly at?: string;
  readonly data?: Readonly<Record<string, unknown>>;
}

/** The events in a message of the inbox. Empty if it is another message. */
export function arrivalsOf({ content }: ModelMessage): readonly Arrival[] {
  if (typeof content === 'string') return [];
  return content.flatMap((part) =>
    part.type === 'inbox' && Array.isArray(part.events) ? (part.events as readonly ArrivedEvent[]).map(toArrival) : [],
  );
}

function toArrival({ type, source, at, data = {} }: ArrivedEvent): Arrival {
  const time = at === undefined ? Number.NaN : Date.parse(at);
  return {
    type,
    by: nameOf(data.from) ?? nameOf(data.resolvedBy) ?? source,
    text: textOf(type, data),
    at: Number.isNaN(time) ? undefined : time,
    spaceId: asText(data.spaceId),
    spaceName: asText(data.spaceName),
    callId: asText(data.callId),
    data,
  };
}

function textOf(type: string, data: Readonly<Record<string, unknown>>): string {
  if (type === 'tool_result') return `${asText(data.toolName) ?? 'a call'}: ${statusOf(data.outcome)}`;
  return asText(data.text) ?? asText(data.instruction) ?? asText(data.name) ?? type;
}

function statusOf(outcome: unknown): string {
  return asText((outcome as { status?: unknown } | undefined)?.status) ?? 'answered';
}

function nameOf(who: unknown): string | undefined {
  return asText((who as { name?: unknown } | undefined)?.name);
}

function asText(value: unknown): string | undefined {
  return typeof value === 'string' ? value : undefined;
}
