import type { Member, Message, Space, SpaceEvent } from '../wire.generated.ts';

/** What a space shows, in order. */
export type SpaceItem = TextItem | CardItem;

/** A message. `message` is missing while an agent writes it. */
export interface TextItem {
  readonly kind: 'text';
  readonly id: string;
  readonly entityId: string;
  readonly text: string;
  /** Set while the message is being written. */
  readonly streamId?: string;
  readonly message?: Message;
}

/** A visible call. While the model writes its input, `message` is missing and `inputText` grows. */
export interface CardItem {
  readonly kind: 'card';
  /** The call's id. */
  readonly id: string;
  readonly entityId: string;
  readonly toolName: string;
  readonly inputText: string;
  /** The last progress that the tool reported. */
  readonly progress?: unknown;
  /** Why the call never ran. */
  readonly cancelled?: string;
  readonly message?: Message;
}

export interface SpaceView {
  readonly space: Space;
  readonly members: readonly Member[];
  readonly items: readonly SpaceItem[];
  /** The entity ids of the agents that are working in the space. Known from the moment the view was opened. */
  readonly active: readonly string[];
  /** The runs of the active agents, by the same ids. */
  readonly activeRuns: Readonly<Record<string, string>>;
  /** The last failure of each agent that has done nothing since. */
  readonly failures: readonly AgentFailure[];
  readonly hasEarlier: boolean;
}

export interface AgentFailure {
  readonly entityId: string;
  readonly runId: string;
  readonly text: string;
  readonly at: number;
  /** When the agent tries again. Undefined if it does not. */
  readonly retryAt?: number | undefined;
}

/** Adds loaded messages before the known ones, or replaces known ones with them. */
export function withMessages(items: readonly SpaceItem[], messages: readonly Message[]): readonly SpaceItem[] {
  return messages.reduce(putMessage, items);
}

/** The view after an event. Events that it has already seen, or whose start it has missed, change nothing. */
export function afterEvent(view: SpaceView, event: SpaceEvent): SpaceView {
  switch (event.type) {
    case 'message.start': {
      // The item has the id of the later message, so that a page need not replace what it shows.
      const { messageId: id, streamId, entityId } = event;
      return withItem(view, { kind: 'text', id, streamId, entityId, text: '' });
    }
    case 'message.delta':
      return change(view, event.streamId, (item) =>
        item.kind === 'text' ? { ...item, text: item.text + event.delta } : item,
      );
    case 'message.complete': {
      const items = without(view.items, event.streamId);
      return { ...view, items: putMessage(items, event.message) };
    }
    case 'message.cancelled':
      return { ...view, items: without(view.items, event.streamId) };
    case 'tool-call.start': {
      const { callId: id, entityId, toolName, message } = event;
      if (message !== undefined) return { ...view, items: putMessage(view.items, message) };
      return withItem(view, { kind: 'card', id, entityId, toolName, inputText: '' });
    }
    case 'tool-input-delta':
      return change(view, event.callId, (item) =>
        item.kind === 'card' ? { ...item, inputText: item.inputText + event.delta } : item,
      );
    case 'tool-call.progress':
      return changeAny(view, event.callId, (item) =>
        item.kind === 'card' && (item.message?.status ?? 'running') === 'running'
          ? { ...item, progress: event.value }
          : item,
      );
    case 'tool-call.complete':
    case 'tool-call.error':
    case 'tool-call.requires-action':
    case 'tool-call.expired':
      return { ...view, items: putMessage(view.items, event.message) };
    case 'tool-call.cancelled': {
      const { callId, message, reason = '' } = event;
      if (message !== undefined) return { ...view, items: putMessage(view.items, message) };
      return change(view, callId, (item) => ({ ...item, cancelled: reason }));
    }
    case 'agent.active':
    case 'agent.inactive':
      return withActivity(view, event);
    case 'agent.failed': {
      const { entityId, runId, text, at, retryAt } = event;
      const others = view.failures.filter((one) => one.entityId !== entityId);
      return { ...view, failures: [...others, { entityId, runId, text, at, retryAt }] };
    }
    case 'space.changed': {
      const { unread, waiting } = view.space;
      const counts = { ...(unread === undefined ? {} : { unread }), ...(waiting === undefined ? {} : { waiting }) };
      return { ...view, space: { ...event.space, ...counts } };
    }
    default:
      return view;
  }
}

function withActivity(
  view: SpaceView,
  { type, entityId, runId }: Extract<SpaceEvent, { type: 'agent.active' | 'agent.inactive' }>,
): SpaceView {
  const others = view.active.filter((id) => id !== entityId);
  const { [entityId]: _ended, ...otherRuns } = view.activeRuns;
  if (type === 'agent.inactive') return { ...view, active: others, activeRuns: otherRuns };
  const failures = view.failures.filter((one) => one.entityId !== entityId);
  return { ...view, failures, active: [...others, entityId], activeRuns: { ...otherRuns, [entityId]: runId } };
}

function withItem(view: SpaceView, item: SpaceItem): SpaceView {
  return lastIndexOf(view.items, item.id) === -1 ? { ...view, items: [...view.items, item] } : view;
}

/**
 * Items that are being written are at the end, so a delta costs one copy of the list, even with thousands of older
 * messages.
 */
function change(view: SpaceView, id: string, to: (item: SpaceItem) => SpaceItem): SpaceView {
  return changeAny(view, id, (item) => (item.message === undefined ? to(item) : item));
}

function changeAny(view: SpaceView, id: string, to: (item: SpaceItem) => SpaceItem): SpaceView {
  const at = lastIndexOf(view.items, id);
  const item = view.items[at];
  return item === undefined ? view : { ...view, items: view.items.with(at, to(item)) };
}

function without(items: readonly SpaceItem[], id: string): readonly SpaceItem[] {
  const at = lastIndexOf(items, id);
  return items[at] === undefined || items[at].message !== undefined ? items : items.toSpliced(at, 1);
}

/** Inserts the message at its number. Items without a number come last. */
function putMessage(items: readonly SpaceItem[], message: Message): readonly SpaceItem[] {
  const known = lastIndexOf(items, idOf(message));
  const item = toItem(message, items[known]);
  if (items[known]?.message?.seq === message.seq) return items.with(known, item);
  const others = known === -1 ? items : items.toSpliced(known, 1);
  const before = others.findLastIndex((other) => (other.message?.seq ?? Number.POSITIVE_INFINITY) < message.seq);
  return others.toSpliced(before + 1, 0, item);
}

function lastIndexOf(items: readonly SpaceItem[], id: string): number {
  return items.findLastIndex((item) => item.id === id || (item.kind === 'text' && item.streamId === id));
}

/** A card is identified by its call, even before it is a message. */
function idOf({ kind, id, callId }: Message): string {
  return kind === 'tool' && callId !== undefined ? callId : id;
}

function toItem(message: Message, known: SpaceItem | undefined): SpaceItem {
  const { id, entityId, text, callId } = message;
  if (message.kind === 'text' || callId === undefined) return { kind: 'text', id, entityId, text, message };
  const live = known?.kind === 'card' ? known : { inputText: '' };
  return { ...live, kind: 'card', id: callId, entityId, toolName: String(message.metadata.toolName), message };
}
