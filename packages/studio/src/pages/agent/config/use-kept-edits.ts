import { useEffect } from 'react';
import { keep } from '../workbench/kept-draft.ts';
import type { ConfigEditor } from './use-config-editor.ts';

/** Keeps what is edited while the tab of the browser is open, under the name of the form. */
export function useKeptEdits(name: string, { base, after, isChanged }: ConfigEditor): void {
  useEffect(() => {
    if (after !== undefined) keep(name, isChanged ? { base, config: after } : undefined);
  }, [name, base, after, isChanged]);
}
