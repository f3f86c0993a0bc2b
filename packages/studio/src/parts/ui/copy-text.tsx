import { Check, Copy } from 'lucide-react';
import { type ReactElement, useState } from 'react';
import { Button } from './button.tsx';

/** A text to copy, such as a key or a link. */
export function CopyText({ label, text }: { label: string; text: string }): ReactElement {
  const [state, setState] = useState<'not yet' | 'copied' | 'refused'>('not yet');
  const copy = (): void => {
    // On plain http there is no clipboard, so the user has to select the text.
    const written = (navigator.clipboard as Clipboard | undefined)?.writeText(text) ?? Promise.reject(new Error());
    written.then(
      () => setState('copied'),
      () => setState('refused'),
    );
  };
  return (
    <div className="flex flex-col gap-1">
      <div className="flex items-center gap-2">
        <input
          readOnly
          aria-label={label}
          value={text}
          onFocus={({ target }) => target.select()}
          className="min-h-8 min-w-0 flex-1 rounded border border-quiet bg-raised px-2 font-mono text-xs"
        />
        <Button onClick={copy}>
          {state === 'copied' ? <Check size={16} aria-hidden /> : <Copy size={16} aria-hidden />}
          Copy
        </Button>
      </div>
      <p role="status" className="text-xs text-quiet empty:hidden">
        {state === 'copied' && 'Copied.'}
        {state === 'refused' && 'The browser did not allow copying: select the text and copy it yourself.'}
      </p>
    </div>
  );
}
