import { Check, Copy } from 'lucide-react';
import { type ReactElement, useState } from 'react';
import { Button } from '../../parts/ui/button.tsx';

/** Copies a text. It is hidden if the browser does not allow that (no https): the text is beside it. */
export function CopyButton({ text, label }: { text: string; label: string }): ReactElement | null {
  const [isDone, setDone] = useState(false);
  if (!('clipboard' in navigator)) return null;
  const Icon = isDone ? Check : Copy;
  return (
    <Button
      kind="ghost"
      className="min-h-6 px-2 py-0 text-xs"
      onClick={() => void navigator.clipboard.writeText(text).then(() => setDone(true))}
      onBlur={() => setDone(false)}
    >
      <Icon size={16} aria-hidden /> <span role="status">{isDone ? 'Copied' : label}</span>
    </Button>
  );
}
