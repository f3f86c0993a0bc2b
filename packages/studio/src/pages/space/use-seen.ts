import type { UsedSpace } from '@lastcall/client/react';
import { useQueryClient } from '@tanstack/react-query';
import { useEffect } from 'react';
import { client } from '../../data/client.ts';
import { useSession } from '../../session/session.tsx';

/** Whoever scrolls by has not read it. */
const READ_MS = 1_000;

/** Tells the gateway what was seen, once it has been on the screen for a while, so that it is not new any more. */
export function useSeen({ space, members, items }: UsedSpace): void {
  const queries = useQueryClient();
  const { entity } = useSession().session;
  const spaceId = space?.id ?? '';
  const isMember = members.some(({ entityId }) => entityId === entity?.id);
  const seq = items.findLast(({ message }) => message !== undefined)?.message?.seq ?? 0;
  useEffect(() => {
    if (!isMember || seq === 0) return;
    const timer = setTimeout(() => {
      if (document.hidden) return;
      client.spaces
        .seen(spaceId, { seq })
        .then(() => queries.invalidateQueries({ queryKey: ['spaces', 'list'] }))
        // It is told again with the next message.
        .catch(() => {});
    }, READ_MS);
    return () => clearTimeout(timer);
  }, [queries, spaceId, isMember, seq]);
}
