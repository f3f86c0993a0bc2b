import type { UsedSpace } from '@lastcall/client/react';
import { useCallback, useState } from 'react';
import { client } from '../../data/client.ts';

/** How an agent got a message. */
interface Heard {
  readonly entityId: string;
  readonly as: 'queued' | 'paused' | 'withheld';
}

export interface UsedHeard {
  /** Who got the message that was sent last from here, by its id. */
  readonly heardBy: { readonly messageId: string; readonly heard: readonly Heard[] } | undefined;
  /** `id`: the same for each try of one message, which counts once. */
  say(text: string, id: string): Promise<void>;
}

/** Says something, and keeps who got it: between the message and the agent's first sign nobody else can tell that it arrived. */
export function useHeard({ space }: Pick<UsedSpace, 'space'>): UsedHeard {
  const [heardBy, setHeardBy] = useState<UsedHeard['heardBy']>();
  const spaceId = space?.id ?? '';
  const say = useCallback<UsedHeard['say']>(
    async (text, clientMessageId) => {
      const message = await client.spaces.say(spaceId, { text, clientMessageId });
      setHeardBy({ messageId: message.id, heard: message.heardBy });
    },
    [spaceId],
  );
  return { heardBy, say };
}
