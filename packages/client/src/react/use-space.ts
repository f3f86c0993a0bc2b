import { useCallback, useRef, useState } from 'react';
import type { Client } from '../create-client.ts';
import type { ConnectionState } from '../event-stream.ts';
import type { Member, Message, Space, SpaceEvent } from '../wire.generated.ts';
import { useLastcall } from './provider.ts';
import { afterEvent, type SpaceItem, type SpaceView, withMessages } from './space-view.ts';
import { useFollow } from './use-follow.ts';

export interface UsedSpace {
  /** Undefined until it is loaded. */
  readonly space: Space | undefined;
  readonly members: readonly Member[];
  readonly items: readonly SpaceItem[];
  /** Entities of agents that are working here. */
  readonly active: readonly string[];
  readonly connection: ConnectionState;
  readonly hasEarlier: boolean;
  /** Why there is nothing more: no access, no such space. */
  readonly error: Error | undefined;
  say(text: string, more?: { replyTo?: string; entityId?: string }): Promise<Message>;
  loadEarlier(): Promise<void>;
}

/** A space, live: its messages as they are written, its cards as they change, who is active. */
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
      // What happens while the state is loaded is applied after it: nothing is missed, and what is in both counts once.
      let early: SpaceEvent[] | undefined = [];
      const load = async (): Promise<void> => {
        early = [];
        try {
          const loaded = await loadSpace(client, id, signal);
          const events = early ?? [];
          early = undefined;
          setError(undefined);
          show((before) => events.reduce(afterEvent, { ...loaded, active: before?.active ?? [] }));
        } catch (error) {
          setError(error);
        }
      };
      const events = client.spaces.stream(id, {
        signal,
        onConnection(state) {
          // Only now is it known where the stream begins. What could not be loaded is loaded over the next connection.
          if (state === 'live' && early !== undefined) void load();
          onConnection(state);
        },
      });
      for await (const event of events) {
        if (event.type === 'reset') await load();
        else if (early !== undefined) early.push(event);
        else show((before) => before && afterEvent(before, event));
      }
    },
    [client, id],
  );
  const say = useCallback<UsedSpace['say']>((text, more) => client.spaces.say(id, { text, ...more }), [client, id]);
  const loadEarlier = useCallback(async () => {
    const first = known.current?.items.find(({ message }) => message !== undefined)?.message;
    if (first === undefined) return;
    const { items, hasMore } = await client.spaces.messages(id, { before: first.seq });
    setView((before) => before && { ...before, items: withMessages(before.items, items), hasEarlier: hasMore });
  }, [client, id]);
  const { space, members = [], items = [], active = [], hasEarlier = false } = view ?? {};
  return { space, members, items, active, hasEarlier, connection, error, say, loadEarlier };
}

async function loadSpace(client: Client, id: string, signal: AbortSignal): Promise<SpaceView> {
  const [space, members, messages] = await Promise.all([
    client.spaces.get(id, { signal }),
    client.spaces.members(id, { limit: 200 }, { signal }),
    client.spaces.messages(id, {}, { signal }),
  ]);
  return {
    space,
    members: members.items,
    items: withMessages([], messages.items),
    active: [],
    hasEarlier: messages.hasMore,
  };
}
