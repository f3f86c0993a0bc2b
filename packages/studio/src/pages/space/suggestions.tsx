import { type UsedSpace, withVisibleControls } from '@lastcall/client/react';
import { type ReactElement, useState } from 'react';
import { Button } from '../../parts/ui/button.tsx';
import { ErrorNote } from '../../parts/ui/error-note.tsx';
import { newMessageId } from './draft.ts';
import { suggestionsOf } from './empty-space.tsx';
import type { UsedHeard } from './use-heard.ts';

/** The sentences of the space's configuration, in one row above the field. An empty space shows them larger, in the list. */
export function Suggestions({ used, onSay }: { used: UsedSpace; onSay: UsedHeard['say'] }): ReactElement | null {
  const [error, setError] = useState<unknown>();
  const sentences = used.space === undefined || used.items.length === 0 ? [] : suggestionsOf(used.space);
  if (sentences.length === 0) return null;
  return (
    <>
      <ul aria-label="Suggestions" className="flex gap-2 overflow-x-auto p-0.5">
        {sentences.map((sentence) => (
          <li key={sentence}>
            <Button
              className="rounded-full text-sm font-normal"
              onClick={() => onSay({ text: sentence, attachments: [], id: newMessageId() }).catch(setError)}
            >
              {withVisibleControls(sentence)}
            </Button>
          </li>
        ))}
      </ul>
      {error !== undefined && <ErrorNote error={error} title="The message was not sent." />}
    </>
  );
}
