import { type RefObject, useRef } from 'react';
import { useKeys } from './keys.tsx';

/** `j` and `k` move from row to row of a list, to the first link of each. */
export function useListKeys<E extends HTMLElement>(what: string): RefObject<E | null> {
  const list = useRef<E>(null);
  const move = (by: 1 | -1): void => {
    const rows = [...(list.current?.querySelectorAll<HTMLElement>(':scope > li') ?? [])];
    const at = rows.findIndex((row) => row.contains(document.activeElement));
    const next = rows[at === -1 ? 0 : Math.min(rows.length - 1, Math.max(0, at + by))];
    next?.querySelector('a')?.focus();
  };
  useKeys({
    j: { label: `The next ${what}`, run: () => move(1) },
    k: { label: `The ${what} before`, run: () => move(-1) },
  });
  return list;
}
