import { type DependencyList, useState } from 'react';

/** Calls `forget` when a value has changed, before anything is shown: a page must not show what belongs to the earlier values. */
export function useChange(values: DependencyList, forget: () => void): void {
  const [known, setKnown] = useState(values);
  if (values.every((value, index) => Object.is(value, known[index]))) return;
  setKnown(values);
  forget();
}
