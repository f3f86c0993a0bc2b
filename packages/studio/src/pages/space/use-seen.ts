import type { UsedSpace } from '@lastcall/client/react';
import { useQueryClient } from '@tanstack/react-query';
import { useEffect } from 'react';
import { client } from '../../data/client.ts';
import { useSession } from '../../parts/session/session.tsx';

/** A message that is only scrolled by has not been read. */
const READ_MS = 1_000;

/** Reports messages as read once they have been on the screen for a while. */
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
        // The next message reports it again.
        .catch(() => {});
    }, READ_MS);
    return () => clearTimeout(timer);
  }, [queries, spaceId, isMember, seq]);
}
