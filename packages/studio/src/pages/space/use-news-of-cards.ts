import type { SpaceItem } from '@lastcall/client/react';
import { useQueryClient } from '@tanstack/react-query';
import { useEffect, useMemo } from 'react';

/** Reloads the lists of waiting calls at once when a card here changes, instead of at their next poll. */
export function useNewsOfCards(items: readonly SpaceItem[]): void {
  const queries = useQueryClient();
  const waiting = useMemo(
    () =>
      items
        .filter(isWaiting)
        .map(({ id }) => id)
        .join(' '),
    [items],
  );
  useEffect(() => {
    void queries.invalidateQueries({ queryKey: ['pending'] });
  }, [queries, waiting]);
}

export function isWaiting(item: SpaceItem): boolean {
  return item.kind === 'card' && item.message?.status === 'requires_action';
}
