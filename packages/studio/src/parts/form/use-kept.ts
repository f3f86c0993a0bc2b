import { useState } from 'react';
import { keepInTab, readJsonInTab } from '../../data/tab-storage.ts';

// Drafts of messages have the same beginning, with which all are removed before another person uses the tab.
const NAME = 'lastcall.draft.form.';

/**
 * State that is kept while the tab is open: the end of the session, a reload or another page does not lose it. Without a name it is not kept.
 * `fits` is false for a kept state that the page cannot show.
 */
export function useKept<T>(
  name: string | undefined,
  initial: () => T,
  fits: (kept: T) => boolean = () => true,
): readonly [T, (next: T) => void] {
  const [value, setValue] = useState(() => {
    const kept = name === undefined ? undefined : readJsonInTab<T>(NAME + name);
    return kept !== undefined && fits(kept) ? kept : initial();
  });
  return [
    value,
    (next) => {
      setValue(next);
      if (name !== undefined) keepInTab(NAME + name, JSON.stringify(next));
    },
  ];
}

/** Removes what is kept under names with this beginning: a form that was sent is empty when it is opened again. */
export function forgetKept(beginning: string): void {
  for (const name of Object.keys(sessionStorage))
    if (name.startsWith(NAME + beginning)) sessionStorage.removeItem(name);
}
