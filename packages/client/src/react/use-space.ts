import { useCallback, useRef, useState } from 'react';
import { backoffMs, pause } from '../backoff.ts';
import type { Client } from '../create-client.ts';
import type { ConnectionState } from '../event-stream.ts';
import { everyItem } from '../every-item.ts';
import type { Member, Message, Space, SpaceEvent } from '../wire.generated.ts';
import { useLastcall } from './provider.ts';
import { type AgentFailure, afterEvent, type SpaceItem, type SpaceView, withMessages } from './space-view.ts';
import { useFollow } from './use-follow.ts';

export interface UsedSpace {
  /** Undefined until it is loaded. */
  readonly space: Space | undefined;
  readonly members: readonly Member[];
  readonly items: readonly SpaceItem[];
  /** The entities of agents that are working here. */
  readonly active: readonly string[];
  /** The runs of the active agents, by the same ids. */
  readonly activeRuns: Readonly<Record<string, string>>;
  /** The last failure of each agent that has done nothing since. */
  readonly failures: readonly AgentFailure[];
  readonly connection: ConnectionState;
  readonly hasEarlier: boolean;
  /** Why the stream ended: no access, or no such space. */
  readonly error: Error | undefined;
  /** Writes a message. If it is sent again with the same `clientMessageId`, it is written once. Default: a new id. */
  say(text: string, more?: Omit<Parameters<Client['spaces']['say']>[1], 'text'>): Promise<Message>;
  loadEarlier(): Promise<void>;
}

/** A space, live: its messages as they are written, its cards as they change, and the active agents. */
export function useSpace(id: string): UsedSpace {
  const { client } = useLastcall();
  const [view, setView] = useState<SpaceView>();
  const known = useRef(view);
  known.current = view;
  const { connection, error } = useFollow(
    async ({ signal, onConnection, setError }) => {
      const show = (next: (before: SpaceView | undefined) => SpaceView | undefined): void => {
        if (!signal.aborted) setView(next);
      };
      show(() => undefined);
      // Events that arrive while the state loads are applied after it: none is missed, and one that is in both counts
      // once.
      let early: SpaceEvent[] | undefined = [];
      let isOver = false;
      const load = async (failures = 0): Promise<void> => {
        const events: SpaceEvent[] = [];
        early = events;
        try {
          const loaded = await loadSpace(client, id, signal);
          // If the stream was opened again meanwhile, the state is loaded once more, and only that counts.
          if (early !== events) return;
          early = undefined;
          setError(undefined);
          show(() => events.reduce(afterEvent, loaded));
        } catch (error) {
          const isLast = (): boolean => early === events && !isOver && !signal.aborted;
          if (!isLast()) return;
          setError(error);
          // The stream may stay connected for hours, and would bring nothing that the page can show.
          void pause(backoffMs(failures + 1), signal).then(() => (isLast() ? load(failures + 1) : undefined));
        }
      };
      let loads = 0;
      const loadMembers = async (failures = 0): Promise<void> => {
        const own = ++loads;
        const isLast = (): boolean => own === loads && !isOver && !signal.aborted;
        try {
          const members = await everyMember(client, id, signal);
          if (!isLast()) return;
          // Otherwise the whole state is still being loaded, which may have failed too.
          if (early === undefined) setError(undefined);
          show((before) => before && { ...before, members });
        } catch (error) {
          if (!isLast()) return;
          setError(error);
          void pause(backoffMs(failures + 1), signal).then(() => (isLast() ? loadMembers(failures + 1) : undefined));
        }
      };
      const events = client.spaces.stream(id, {
        signal,
        hiddenMs: HIDDEN_MS,
        onConnection(state) {
          // Only now is the start of the stream known.
          if (state === 'live' && early !== undefined) void load();
          onConnection(state);
        },
      });
      try {
        for await (const event of events) {
          if (event.type === 'reset') await load();
          else if (early !== undefined) early.push(event);
          else show((before) => before && afterEvent(before, event));
          // The event does not contain the member's name, so the members are loaded again.
          if (event.type === 'member.joined' || event.type === 'member.left') void loadMembers();
        }
      } finally {
        isOver = true;
      }
    },
    { deps: [client, id], forget: () => setView(undefined) },
  );
  const say = useCallback<UsedSpace['say']>((text, more) => client.spaces.say(id, { text, ...more }), [client, id]);
  const loadEarlier = useCallback(async () => {
    const first = known.current?.items.find(({ message }) => message !== undefined)?.message;
    if (first === undefined) return;
    const { items, hasMore } = await client.spaces.messages(id, { before: first.seq, limit: 200 });
    setView((before) => {
      // By now the hook may show another space, or may have loaded this one again: then they would not fit.
      if (before?.items.some(({ message }) => message?.id === first.id) !== true) return before;
      return { ...before, items: withMessages(before.items, items), hasEarlier: hasMore };
    });
  }, [client, id]);
  return { ...(view ?? EMPTY), space: view?.space, connection, error, say, loadEarlier };
}

/** A hidden page closes its connection after this long: a browser has six for all its tabs. */
export const HIDDEN_MS = 30_000;

const EMPTY: Omit<SpaceView, 'space'> = {
  members: [],
  items: [],
  active: [],
  activeRuns: {},
  failures: [],
  hasEarlier: false,
};

async function loadSpace(client: Client, id: string, signal: AbortSignal): Promise<SpaceView> {
  const [space, members, messages] = await Promise.all([
    client.spaces.get(id, { signal }),
    everyMember(client, id, signal),
    client.spaces.messages(id, {}, { signal }),
  ]);
  const working = members.filter(({ activeRunId }) => activeRunId !== undefined);
  return {
    space,
    members,
    items: withMessages([], messages.items),
    active: working.map(({ entityId }) => entityId),
    activeRuns: Object.fromEntries(working.map(({ entityId, activeRunId = '' }) => [entityId, activeRunId])),
    failures: members.flatMap(({ entityId, failure }) => (failure === undefined ? [] : [{ entityId, ...failure }])),
    hasEarlier: messages.hasMore,
  };
}

/** All of them: one who is missing would have no name, and could not write. */
async function everyMember(client: Client, id: string, signal: AbortSignal): Promise<readonly Member[]> {
  return await everyItem((page) => client.spaces.members(id, page, { signal }));
}
