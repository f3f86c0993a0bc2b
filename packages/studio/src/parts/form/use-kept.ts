import { useState } from 'react';

// Drafts of messages have the same beginning, with which all are removed before another person uses the tab.
const NAME = 'lastcall.draft.card.';

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
    const kept = name === undefined ? undefined : read<T>(name);
    return kept !== undefined && fits(kept) ? kept : initial();
  });
  return [
    value,
    (next) => {
      setValue(next);
      if (name !== undefined) keep(name, next);
    },
  ];
}

function read<T>(name: string): T | undefined {
  const text = sessionStorage.getItem(NAME + name);
  return text === null ? undefined : (JSON.parse(text) as T);
}

function keep(name: string, value: unknown): void {
  try {
    sessionStorage.setItem(NAME + name, JSON.stringify(value));
  } catch {
    // The browser has no room for it. What was kept before would be an older text.
    sessionStorage.removeItem(NAME + name);
  }
}

/** Removes what is kept under names with this beginning. */
export function forgetKept(beginning: string): void {
  for (const name of Object.keys(sessionStorage))
    if (name.startsWith(NAME + beginning)) sessionStorage.removeItem(name);
}
