import type { UsedSpace } from '@lastcall/client/react';
import { useCallback, useState } from 'react';
import { client } from '../../data/client.ts';
import type { Attempt } from './draft.ts';

/** How an agent received a message. */
interface Heard {
  readonly entityId: string;
  readonly as: 'queued' | 'paused' | 'withheld';
}

export interface UsedHeard {
  /** The agents that received the last message sent from here, by its id. */
  readonly heardBy: { readonly messageId: string; readonly heard: readonly Heard[] } | undefined;
  /** The attempts of one message have the same id, so it is posted once. */
  say(attempt: Attempt): Promise<void>;
}

/**
 * Posts a message and keeps which agents received it: until an agent shows its first activity, this is the only sign
 * that it arrived.
 */
export function useHeard({ space }: Pick<UsedSpace, 'space'>): UsedHeard {
  const [heardBy, setHeardBy] = useState<UsedHeard['heardBy']>();
  const spaceId = space?.id ?? '';
  const say = useCallback<UsedHeard['say']>(
    async ({ text, attachments, id: clientMessageId }) => {
      const files = attachments.length === 0 ? {} : { attachments: [...attachments] };
      const message = await client.spaces.say(spaceId, { text, clientMessageId, ...files });
      setHeardBy({ messageId: message.id, heard: message.heardBy });
    },
    [spaceId],
  );
  return { heardBy, say };
}
