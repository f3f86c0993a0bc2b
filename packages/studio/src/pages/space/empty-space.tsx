import type { Member, Space } from '@lastcall/client';
import { withVisibleControls } from '@lastcall/client/react';
import { type ReactElement, useState } from 'react';
import { Button } from '../../parts/ui/button.tsx';
import { EmptyState } from '../../parts/ui/empty-state.tsx';
import { ErrorNote } from '../../parts/ui/error-note.tsx';
import { newMessageId } from './draft.ts';
import type { UsedHeard } from './use-heard.ts';

interface EmptySpaceProps {
  readonly space: Space;
  readonly members: readonly Member[];
  readonly onSay: UsedHeard['say'];
}

/** An empty space: what happens when the user writes, and sentences to start with. */
export function EmptySpace({ space, members, onSay }: EmptySpaceProps): ReactElement {
  const [error, setError] = useState<unknown>();
  const agents = members.filter(({ kind }) => kind === 'agent').map(({ displayName }) => displayName);
  const isArchived = space.archivedAt !== undefined;
  const sentences = isArchived ? [] : suggestionsOf(space);
  return (
    <div className="min-h-0 flex-1 overflow-y-auto px-4 py-4 wide:[scrollbar-gutter:stable] wide:px-6 wide:py-6">
      <div className="column-talk">
        <EmptyState title="No messages here yet.">
          <p>
            {isArchived ? 'Nothing was written before it was archived.' : whatHappens(agents.map(withVisibleControls))}
          </p>
          {sentences.length > 0 && (
            <ul className="flex flex-col items-start gap-2">
              {sentences.map((sentence) => (
                <li key={sentence}>
                  <Button
                    className="whitespace-normal text-left"
                    onClick={() => onSay({ text: sentence, attachments: [], id: newMessageId() }).catch(setError)}
                  >
                    {withVisibleControls(sentence)}
                  </Button>
                </li>
              ))}
            </ul>
          )}
        </EmptyState>
        {error !== undefined && <ErrorNote error={error} title="The message was not sent." />}
      </div>
    </div>
  );
}

function whatHappens(agents: readonly string[]): string {
  if (agents.length === 0) return 'No agent is in this space: only people read what you write here.';
  return `What you write here wakes ${agents.join(' and ')}. Calls that need an answer appear here as cards.`;
}

/** The suggestions from the space's configuration. */
export function suggestionsOf({ metadata }: Pick<Space, 'metadata'>): readonly string[] {
  const { suggestions } = metadata;
  return Array.isArray(suggestions) ? suggestions.filter((one) => typeof one === 'string').slice(0, 5) : [];
}
