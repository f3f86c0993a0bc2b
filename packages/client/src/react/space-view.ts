import type { Member, Message, Space, SpaceEvent } from '../wire.generated.ts';

/** What a space shows, in order. */
export type SpaceItem = TextItem | CardItem;

/** A message. While an agent writes it, `message` is missing. */
export interface TextItem {
  readonly kind: 'text';
  readonly id: string;
  readonly entityId: string;
  readonly text: string;
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
  /** What the tool reported last. */
  readonly progress?: unknown;
  /** Why it never ran. */
  readonly cancelled?: string;
  readonly message?: Message;
}

export interface SpaceView {
  readonly space: Space;
  readonly members: readonly Member[];
  readonly items: readonly SpaceItem[];
  /** The agents that are working in the space: by their entities' ids. Known from the moment the view was opened. */
  readonly active: readonly string[];
  readonly hasEarlier: boolean;
}

/** Messages that were loaded, before or in place of those that are known. */
export function withMessages(items: readonly SpaceItem[], messages: readonly Message[]): readonly SpaceItem[] {
  return messages.reduce(putMessage, items);
}

/** The view after an event. Events that it has seen, or whose beginning it has not, change nothing. */
export function afterEvent(view: SpaceView, event: SpaceEvent): SpaceView {
  switch (event.type) {
    case 'message.start': {
      const { streamId: id, entityId } = event;
      return withItem(view, { kind: 'text', id, entityId, text: '' });
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
      return change(view, event.callId, (item) => (item.kind === 'card' ? { ...item, progress: event.value } : item));
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
    case 'agent.inactive': {
      const others = view.active.filter((id) => id !== event.entityId);
      return { ...view, active: event.type === 'agent.active' ? [...others, event.entityId] : others };
    }
    default:
      return view;
  }
}

function withItem(view: SpaceView, item: SpaceItem): SpaceView {
  return view.items.some(({ id }) => id === item.id) ? view : { ...view, items: [...view.items, item] };
}

function change(view: SpaceView, id: string, to: (item: SpaceItem) => SpaceItem): SpaceView {
  return { ...view, items: view.items.map((item) => (item.id === id && item.message === undefined ? to(item) : item)) };
}

function without(items: readonly SpaceItem[], id: string): readonly SpaceItem[] {
  return items.filter((item) => item.id !== id || item.message !== undefined);
}

/** Where its number says. What has no number yet comes last. */
function putMessage(items: readonly SpaceItem[], message: Message): readonly SpaceItem[] {
  const item = toItem(message, items);
  const others = items.filter(({ id }) => id !== item.id);
  const at = others.findIndex((other) => (other.message?.seq ?? Number.POSITIVE_INFINITY) > message.seq);
  return at === -1 ? [...others, item] : [...others.slice(0, at), item, ...others.slice(at)];
}

function toItem(message: Message, items: readonly SpaceItem[]): SpaceItem {
  const { id, entityId, text, callId } = message;
  if (message.kind === 'text' || callId === undefined) return { kind: 'text', id, entityId, text, message };
  const known = items.find((item) => item.id === callId);
  const live = known?.kind === 'card' ? known : { inputText: '' };
  return { ...live, kind: 'card', id: callId, entityId, toolName: String(message.metadata.toolName), message };
}
