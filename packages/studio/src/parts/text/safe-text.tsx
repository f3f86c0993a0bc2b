import { withVisibleControls } from '@lastcall/client/react';
import { type ReactElement, useState } from 'react';
import { ScrollRegion } from '../ui/scroll-region.tsx';
import { SHOWN_CHARACTERS } from './shown-characters.ts';

interface SafeTextProps {
  readonly text: string;
  readonly className?: string;
}

/**
 * Untrusted text, shown as text: line breaks are kept, hidden characters are made visible, and long texts are cut until
 * the user expands them.
 */
export function SafeText({ text, className = '' }: SafeTextProps): ReactElement {
  const { shown, more } = useCut(text);
  return (
    <span dir="auto" className={`whitespace-pre-wrap ${className}`}>
      {withVisibleControls(shown)}
      {more}
    </span>
  );
}

/** A value as JSON, or a string as it is. */
export function JsonText({ value, label }: { value: unknown; label?: string }): ReactElement {
  const text = typeof value === 'string' ? value : (JSON.stringify(value, null, 2) ?? 'nothing');
  const { shown, more } = useCut(text);
  return (
    <ScrollRegion label={label ?? 'Content'}>
      <pre className="font-mono text-xs whitespace-pre-wrap">
        {withVisibleControls(shown)}
        {more}
      </pre>
    </ScrollRegion>
  );
}

function useCut(text: string): { shown: string; more: ReactElement | null } {
  const [isWhole, setWhole] = useState(false);
  if (isWhole || text.length <= SHOWN_CHARACTERS) return { shown: text, more: null };
  const more = (
    <button type="button" className="ml-1 font-sans link" onClick={() => setWhole(true)}>
      … show all {text.length.toLocaleString()} characters
    </button>
  );
  return { shown: text.slice(0, SHOWN_CHARACTERS), more };
}
